"""Where seeds are kept: a folder of text files, one per failing schedule, to be committed."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.findings import UsageError
from harness.seeds.schedule import Seed

__all__ = ["DEFAULT_FOLDER", "SeedStore", "read_seed", "replay_command", "seed_files", "stale"]

DEFAULT_FOLDER = ".harness/seeds"
_SUFFIX = ".seed"


def read_seed(path: Path) -> Seed:
    """Read a seed file; raises UsageError naming the file and what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: this is no seed: it is not text") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    return Seed.from_text(text, str(path))


def replay_command(path: Path) -> str:
    """What somebody types to see a kept failure again."""
    return f"harness replay {shlex.quote(str(path))}"


def seed_files(names: Iterable[str]) -> list[Path]:
    """Seed files by their names, all of a folder for its name; raises UsageError for one that has none."""
    paths: list[Path] = []
    for path in map(Path, names):
        if not path.is_dir():
            paths.append(path)
            continue
        inside = sorted(path.glob(f"*{_SUFFIX}"))
        if not inside:
            raise UsageError(f"{path}: there is no seed in this folder")
        paths += inside
    return paths


def stale(path: Path, missed: str) -> str:
    """What is said of a seed that passes because its points do not come any more."""
    return f"seed {path.name} no longer applies: {missed}; if that code was meant to change, delete the seed"


class SeedStore:
    """The seeds of one folder; it need not exist."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __iter__(self) -> Iterator[tuple[Path, Seed | UsageError]]:
        """All seeds by file name; an unreadable one comes as the error, and stops no other."""
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            try:
                yield path, read_seed(path)
            except UsageError as error:
                yield path, error

    def keep(self, seed: Seed, name: str) -> Path:
        """Write a seed; the same seed always has the same file name. Raises UsageError."""
        text = seed.to_text()
        identity = seed.fields.get("target", "") + "".join(str(deviation) for deviation in seed.schedule)
        digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        path = self.folder / f"{_plain(name)}-{digest}{_SUFFIX}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot keep a seed in {self.folder}: {error.strerror or error}") from None
        return path


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-")
