"""No false alarm, ever: sound implementations that come in unusual parcels."""

from __future__ import annotations

import shutil

import pytest

import reference.ledger
from harness.contracts.adapter import Adapter
from harness.stateful.session import Session
from harness.stateful.surroundings import Surroundings
from harness.targets.locate import Target


@pytest.fixture
def session_on(tmp_path, in_process, ledger):
    """A session on what a file makes, which lies beside a copy of the reference."""
    shutil.copy(reference.ledger.__file__, tmp_path / "original.py")

    def begin(text, **bounds):
        (tmp_path / "sound.py").write_text(text)
        surroundings = Surroundings.of(Target.parse(f"{tmp_path / 'sound.py'}:make"), ledger, Adapter())
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


@pytest.mark.parametrize(
    "text",
    [
        "from reference.ledger import Ledger as make\n",
        "from reference.ledger import Ledger\n\ndef make(**bounds):\n    return Ledger(**bounds)\n",
        "from reference.ledger import Ledger\n\nclass make(Ledger):\n    pass\n",
    ],
    ids=["imported", "function", "subclass"],
)
def test_a_parcel_from_another_package_is_sound(session_on, text):
    """A file that makes an installed class is the usual factory; it is as sound as that class."""
    session = session_on(text)
    job = session.submit("request", "payload").job_id
    session.wait(job, "PENDING", 80)


@pytest.mark.xfail(
    reason="targets/subject.py create(): bounds that the factory takes are not handed to `configure`, which puts its "
    "defaults in their place when it is called for the others",
    strict=True,
)
def test_bounds_split_between_factory_and_configure_all_hold(session_on):
    """A factory may take one bound and leave the others to `configure`, whose defaults must not win."""
    text = "from original import Ledger\n\ndef make(max_queue=16):\n    return Ledger(max_queue=max_queue)\n"
    session = session_on(text, max_queue=1, job_ttl_ms=80)
    session.submit("request", "payload")
    session.submit("request", "payload")
