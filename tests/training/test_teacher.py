import numpy as np
import pytest

from akd_sdk.gait.coherence import DUTY_LINE, TEACHER_JITTER, TEACHER_SWING, analyse, coherences
from akd_sdk.priors.mini.vocabulary import ACTIONS, CYCLIC
from akd_sdk.training.actions import idle_carriage
from akd_sdk.training.bodies import draw_body
from akd_sdk.training.clip import ClipWish, draw_any
from akd_sdk.training.gaits import draw_stride, foot_path
from akd_sdk.training.poses import pose
from akd_sdk.training.reference import duty_line, gait_reference
from akd_sdk.training.strides import stride_carriage
from akd_sdk.views.tokens import GROUPS, MAX_TOKENS

GAITS = [(kind, gait) for kind, actions in ACTIONS.items() for gait in actions if gait in CYCLIC]
CLIPS = 12


def _clips(kind, action, count=CLIPS, seed=5, **wish):
    rng = np.random.default_rng(seed)
    return [draw_any(rng, kind, ClipWish(action=action, **wish)) for _ in range(count)]


@pytest.mark.parametrize("kind", ACTIONS)
def test_bodies_are_well_formed_tokens(kind):
    rng = np.random.default_rng(0)
    for _ in range(60):
        tokens = draw_body(rng, kind).tokens()
        assert tokens.count <= MAX_TOKENS
        assert tokens.parents[0] == -1
        assert all(0 <= tokens.parents[j] < j for j in range(1, tokens.count))
        assert tokens.rest[0, 0] == 0
        assert tokens.rest[0, 2] == 0
        assert tokens.rest[:, 1].min() > -1e-9
        assert ((tokens.chain >= 0) & (tokens.chain <= 1 + 1e-12)).all()
        assert sorted(tokens.feet) == sorted(tokens.hips) == (["LF", "LH", "RF", "RH"] if kind == "quadruped" else ["LH", "RH"])
        for limb, foot in tokens.feet.items():
            assert tokens.rest[foot, 1] == pytest.approx(0, abs=1e-9)
            assert tokens.sides[foot] == (1 if limb[0] == "L" else 2)
            assert GROUPS[tokens.groups[foot]] == ("leg" if limb[1] == "H" else "foreleg")
        assert np.mean([tokens.rest[tokens.hips[limb], 1] for limb in ("LH", "RH")]) == pytest.approx(1)


@pytest.mark.parametrize("kind", ACTIONS)
def test_bodies_stand_mirrored(kind):
    tokens = draw_body(np.random.default_rng(3), kind).tokens()
    left, right = np.flatnonzero(tokens.sides == 1), np.flatnonzero(tokens.sides == 2)
    mirrored = tokens.rest[right] * np.array([-1.0, 1.0, 1.0])
    assert len(left) == len(right) > 0
    for point in tokens.rest[left]:
        assert np.abs(mirrored - point).sum(1).min() < 1e-9


@pytest.mark.parametrize(("kind", "gait"), GAITS)
def test_every_clip_is_coherent_with_its_own_gait_and_no_other(kind, gait):
    for clip in _clips(kind, gait):
        found = coherences(analyse(clip.positions, clip.tokens.feet, 16.0))
        assert found.pop(gait) >= 0.94
        if kind == "quadruped":  # a walk and a run of two legs have the same phases
            assert max(found.values()) < 0.8


@pytest.mark.parametrize(("kind", "action"), [(kind, action) for kind, actions in ACTIONS.items() for action in actions])
def test_nothing_goes_below_the_ground(kind, action):
    for clip in _clips(kind, action):
        assert clip.positions[..., 1].min() > -1e-6


@pytest.mark.parametrize(("kind", "gait"), GAITS)
def test_bones_keep_their_length(kind, gait):
    """All but girdled fore hips, which slide a little along the shoulder, and legs seen in the sagittal plane."""
    for clip in _clips(kind, gait, 4):
        tokens = clip.tokens
        axial = [j for j in range(1, tokens.count) if GROUPS[tokens.groups[j]] in ("spine", "neck", "head", "tail", "arm", "wing")]
        rest = np.linalg.norm(tokens.rest[axial] - tokens.rest[tokens.parents[axial]], axis=-1)
        lengths = np.linalg.norm(clip.positions[:, axial] - clip.positions[:, tokens.parents[axial]], axis=-1)
        middle_root = GROUPS[tokens.groups[1]] == "spine" and tokens.names[0] == "middle"
        if not middle_root:
            assert np.abs(lengths - rest).max() < 1e-9


@pytest.mark.parametrize(("kind", "gait"), GAITS)
def test_feet_in_stance_move_at_one_speed(kind, gait):
    """On feet without a rolling sole the tip moves back by the excursion over the stance, evenly, on the ground."""
    for clip in _clips(kind, gait, 8):
        stride = clip.stride
        if kind == "biped" and any(name.startswith("LH3") for name in clip.tokens.names):
            continue
        for foot in clip.tokens.feet.values():
            height, forward = clip.positions[:, foot, 1], clip.positions[:, foot, 2]
            down = height < 1e-9
            speed = np.diff(forward)[down[1:] & down[:-1]] * 16.0
            if len(speed) > 3:
                assert np.ptp(speed) < 0.02 * abs(np.median(speed))
        assert stride is not None


def test_swing_joins_stance_without_a_jump():
    phase = np.arange(2000) / 2000
    along, swing = foot_path(phase, 0.6, 0.7)
    assert np.abs(np.diff(np.append(along, along[0]))).max() < 0.004
    assert swing[phase < 0.6].max() == 0
    assert along.max() - along.min() >= 0.7


@pytest.mark.parametrize("kind", ACTIONS)
def test_jump_leaves_the_ground_with_every_foot_for_a_quarter_second(kind):
    for clip in _clips(kind, "jump", fps=64.0, frames=128):
        feet = list(clip.tokens.feet.values())
        airborne = (clip.positions[:, feet, 1] > 0.02).all(1)
        longest = max(len(run) for run in "".join("x" if up else " " for up in airborne).split())
        assert longest / 64.0 >= 0.25
        assert not airborne[0]
        assert not airborne[-1]


@pytest.mark.parametrize("kind", ACTIONS)
def test_idle_keeps_its_feet_exactly(kind):
    for clip in _clips(kind, "idle"):
        feet = list(clip.tokens.feet.values())
        assert np.ptp(clip.positions[:, feet], axis=0).max() == 0
        assert np.ptp(clip.positions, axis=0).max() > 1e-3


@pytest.mark.parametrize(("kind", "gait"), GAITS)
def test_loops_of_gaits_repeat_after_two_seconds(kind, gait):
    rng = np.random.default_rng(6)
    stride = draw_stride(rng, kind, gait, None, loop_s=2.0)
    assert stride.frequency * 2 == pytest.approx(round(stride.frequency * 2))
    positions = pose(stride_carriage(rng, draw_body(rng, kind), stride, np.array([0.0, 0.3, 2.0, 2.3])))
    assert np.abs(positions[2:] - positions[:2]).max() < 1e-9
    assert np.abs(positions[1] - positions[0]).max() > 0.05


@pytest.mark.parametrize("kind", ACTIONS)
def test_idle_loops_repeat_after_two_seconds(kind):
    rng = np.random.default_rng(6)
    positions = pose(idle_carriage(rng, draw_body(rng, kind), np.array([0.0, 0.7, 2.0, 2.7]), loop_s=2.0))
    assert np.abs(positions[2:] - positions[:2]).max() < 1e-9
    assert np.abs(positions[1] - positions[0]).max() > 1e-4


@pytest.mark.parametrize(("kind", "gait"), GAITS)
@pytest.mark.parametrize("loop", [True, False])
def test_slow_and_fast_change_the_stride_by_a_fifth_at_least(kind, gait, loop):
    plain, slow, fast = (
        np.array([clip.stride.frequency for clip in _clips(kind, gait, 8, style=style, loop=loop)]) for style in (None, "slow", "fast")
    )
    assert np.median(slow) <= 0.8 * np.median(plain)
    assert np.median(fast) >= 1.2 * np.median(plain)


def test_same_seed_same_clip():
    first, second = (draw_any(np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(first.positions, second.positions)
    assert first.tokens.names == second.tokens.names


def test_reference_constants_are_the_teachers_own():
    """Fewer clips than the command that prints them: within 8 % for swings, 35 % for jitter, .05 of duty."""
    references = [gait_reference(kind, gait, count=25) for kind, gait in GAITS]
    for r in references:
        assert r.swing == pytest.approx(TEACHER_SWING[r.kind, r.gait], rel=0.08)
        assert r.jitter == pytest.approx(TEACHER_JITTER[r.kind, r.gait], rel=0.35)
    slope, offset = duty_line(references)
    for backward in (0.50, 0.58, 0.65):
        assert slope * backward + offset == pytest.approx(DUTY_LINE[0] * backward + DUTY_LINE[1], abs=0.05)
