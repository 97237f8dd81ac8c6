"""No false alarm, ever: sound implementations that come in unusual parcels."""

from __future__ import annotations

import shutil
from contextlib import suppress

import pytest

import reference.ledger
from harness.contracts.adapter import Adapter
from harness.control import world
from harness.control.virtual import NeedsThreads
from harness.stateful.session import Session
from harness.stateful.surroundings import Surroundings
from harness.targets.locate import Target


@pytest.fixture
def session_on(tmp_path, in_process, ledger):
    """A session on what a file makes, which lies beside a copy of the reference."""
    shutil.copy(reference.ledger.__file__, tmp_path / "original.py")

    def begin(text, adapter=None, **bounds):
        (tmp_path / "sound.py").write_text(text)
        target = Target.parse(f"{tmp_path / 'sound.py'}:make")
        surroundings = Surroundings.of(target, ledger, adapter or Adapter())
        return Session(surroundings, {**ledger.configuration, **bounds})

    return begin


@pytest.mark.parametrize(
    "text",
    [
        "from original import Ledger as make\n",
        "from original import Ledger\n\ndef make(**bounds):\n    return Ledger(**bounds)\n",
        "import original\n\nclass make(original.Ledger):\n    pass\n",
        "def make(**bounds):\n    from original import Ledger\n    return Ledger(**bounds)\n",
    ],
    ids=["imported", "function", "subclass", "late import"],
)
def test_a_parcel_is_sound(session_on, text):
    """However the class is handed over, its waits run in virtual time."""
    session = session_on(text, max_queue=1)
    job = session.submit("request", "payload").job_id
    session.wait(job, "PENDING", 60_000)
    session.submit("request", "payload")


@pytest.fixture
def elsewhere(tmp_path_factory, monkeypatch):
    """A sound ledger that lies in no folder of the target's, but can be imported."""
    folder = tmp_path_factory.mktemp("elsewhere")
    shutil.copy(reference.ledger.__file__, folder / "ledger_from_elsewhere.py")
    monkeypatch.syspath_prepend(folder)
    return folder


PARCELS = {
    "imported": "from ledger_from_elsewhere import Ledger as make\n",
    "function": "import ledger_from_elsewhere as it\ndef make(**bounds):\n    return it.Ledger(**bounds)\n",
    "subclass": "from ledger_from_elsewhere import Ledger\n\nclass make(Ledger):\n    pass\n",
}


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("text", PARCELS.values(), ids=PARCELS)
def test_a_parcel_from_another_folder_is_sound(session_on, text):
    """A file that makes a class of the user's own, from wherever, is as sound as that class."""
    session = session_on(text)
    job = session.submit("request", "payload").job_id
    session.wait(job, "PENDING", 80)


@pytest.mark.parametrize("text", PARCELS.values(), ids=PARCELS)
def test_a_parcel_from_an_installed_package_is_sound(session_on, monkeypatch, elsewhere, text):
    """The usual factory in a test folder makes what was installed into the environment."""
    monkeypatch.setattr(world, "_INSTALLED", (*world._INSTALLED, elsewhere))
    session = session_on(text)
    job = session.submit("request", "payload").job_id
    with suppress(NeedsThreads):  # what a function makes is not known beforehand: a gate turns to real time
        session.wait(job, "PENDING", 80)


def test_bounds_split_between_factory_and_configure_all_hold(session_on):
    """A factory may take one bound and leave the others to `configure`, whose defaults must not win."""
    text = "from original import Ledger\n\ndef make(max_queue=16):\n    return Ledger(max_queue=max_queue)\n"
    session = session_on(text, max_queue=1, job_ttl_ms=80)
    session.submit("request", "payload")
    session.submit("request", "payload")


def test_a_submit_without_a_request_id_is_sound(session_on):
    """An adapter may say that submit takes the payload only; nobody can then ask for our request id."""
    text = """\
from original import Ledger

class make(Ledger):
    def submit(self, payload, priority=0):
        return super().submit("none", payload)
"""
    session = session_on(text, Adapter(arguments={"submit": ("payload",)}))
    job = session.submit("request", "payload").job_id
    session.take_request(job)
