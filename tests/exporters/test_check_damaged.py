"""Files damaged at random are checked or refused, and nothing else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from check_gltf import Fault
from check_usd import BvhFault, UsdFault

from akd_sdk.errors import ReadError
from akd_sdk.exporters import Finding, check, known_profiles

GOOD = {".glb": Fault(), ".usda": UsdFault(), ".bvh": BvhFault()}
TIMES = 300
PROFILES = (None, *known_profiles())


def damaged(data: bytes, rng: random.Random) -> bytes:
    """One to four bytes changed, dropped, repeated or put in."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(made))
        what = rng.random()
        if what < 0.5:
            made[at] = rng.randrange(256)
        elif what < 0.7:
            del made[at : at + rng.randrange(1, 9)]
        elif what < 0.9:
            made[at:at] = bytes(rng.choice(b'0123456789-eE.,[]{}"nul ') for _ in range(rng.randrange(1, 4)))
        else:
            made[at:at] = made[at : at + 20]
    return bytes(made)


@pytest.mark.parametrize("suffix", GOOD)
def test_damage_is_found_or_refused(suffix: str, tmp_path: Path) -> None:
    rng = random.Random(suffix)
    whole = GOOD[suffix].save(tmp_path).read_bytes()
    ends = {"refused": 0, "nameless": 0, "found": 0, "unseen": 0}
    for number in range(TIMES):
        path = tmp_path / f"{number}{suffix}"
        path.write_bytes(damaged(whole, rng))
        try:
            found = check(path, rng.choice(PROFILES))
        except ReadError as fault:
            ends["refused" if fault.path == str(path) else "nameless"] += 1
            continue
        assert all(isinstance(finding, Finding) for finding in found)
        ends["found" if found else "unseen"] += 1
    assert ends["nameless"] == 0
    assert ends["refused"] > 0
    assert ends["found"] > 0
