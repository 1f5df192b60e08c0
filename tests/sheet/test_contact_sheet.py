"""Contact sheets of the samples: complete, the same each time, in one scale, and written whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from akd_sdk.errors import AkdError, ExportError, RigError
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import ContactPoint, Rig
from akd_sdk.rig.surface import smooth_normals
from akd_sdk.sheet import contact_sheet, save_sheet
from akd_sdk.sheet.contact_sheet import TITLE
from akd_sdk.sheet.framing import framing_of, shown_frames
from akd_sdk.sheet.ground import LEFT, LINE, MARK, RIGHT, planted_points
from akd_sdk.sheet.model import model_of
from akd_sdk.sheet.stage import FOOT, MARGIN

CELL = (160, 180)
FRAMES = 31


def resting(rig: Rig, *, frames: int = FRAMES, travel_m: float = 0.0) -> Motion:
    """The rest pose, carried forward evenly by `travel_m`."""
    root = np.tile(rig.skeleton.rest_world[max(rig.skeleton.pelvis, 0), :3, 3], (frames, 1))
    path = np.linspace(0.0, travel_m, frames)[:, None] * rig.forward
    travel = np.zeros((frames, 3))
    travel[:, :2] = path[:, [0, 2]]
    return Motion(
        name="rest", rotations=np.tile(rig.skeleton.rest.rotations, (frames, 1, 1)), root=root + path, fps=30.0, travel=travel
    )


def opened(path: Path) -> Rig:
    """A sample with the pelvis it is known to have: sheets are tested apart from the finding of anatomy."""
    rig = open_rig(path)
    return replace(rig, skeleton=replace(rig.skeleton, pelvis=rig.skeleton.names.index("hips")))


@pytest.fixture(scope="module")
def dog(samples: Path) -> Rig:
    return opened(samples / "quadruped.glb")


@pytest.fixture(scope="module")
def person(samples: Path) -> Rig:
    return opened(samples / "biped.glb")


@pytest.fixture(scope="module")
def sheet(dog: Rig) -> Image.Image:
    return contact_sheet(dog, resting(dog), cell=CELL)


def cells(image: Image.Image, columns: int = 12, cell: tuple[int, int] = CELL) -> list[np.ndarray]:
    """The pictures of a sheet, side views and three-quarter views of each block in turn."""
    pixels = np.asarray(image)
    across = min(columns, 6)
    blocks = -(-columns // 6)
    height = (image.height - TITLE - MARGIN - blocks * MARGIN) // (2 * blocks) - MARGIN // 2
    out = []
    for block in range(blocks):
        for view in range(2):
            top = TITLE + MARGIN // 2 + block * (2 * (height + MARGIN // 2) + MARGIN) + view * (height + MARGIN // 2)
            for k in range(across):
                left = MARGIN + k * (cell[0] + MARGIN // 2)
                out.append(pixels[top : top + height, left : left + cell[0]])
    return out


def body(cell: np.ndarray) -> np.ndarray:
    """Pixels of the coat: far redder than paper, ground and dots."""
    values = cell.astype(int)
    return (values[..., 0] - values[..., 2] > 25) & (values[..., 0] < 215)


def test_a_sheet_has_twenty_four_figures(sheet: Image.Image) -> None:
    pictures = cells(sheet)
    assert len(pictures) == 24
    for picture in pictures:
        labels, count = ndimage.label(body(picture))
        sizes = ndimage.sum(body(picture), labels, np.arange(1, count + 1))
        assert sizes.max() > 0.05 * picture.shape[0] * picture.shape[1], "one large figure in each picture"


def test_the_same_input_gives_the_same_sheet(dog: Rig, sheet: Image.Image) -> None:
    assert sheet.tobytes() == contact_sheet(dog, resting(dog), cell=CELL).tobytes()


@pytest.mark.parametrize("name", ["sheet.jpg", "sheet", "sheet.glb"])
def test_a_sheet_is_a_png_and_says_so(sheet: Image.Image, name: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"a contact sheet is a \.png"):
        save_sheet(sheet, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_any_name_can_stand_above_a_sheet(dog: Rig, sheet: Image.Image) -> None:
    named = contact_sheet(replace(dog, name="dog\n\0" + "x" * 5000), resting(dog), cell=CELL)
    assert named.size == sheet.size


def test_figures_are_as_large_as_the_cell_allows_and_whole(sheet: Image.Image) -> None:
    for picture in cells(sheet)[:6]:
        columns = np.flatnonzero(body(picture).any(axis=0))
        assert columns[0] > 2
        assert columns[-1] < CELL[0] - 3
        assert np.ptp(columns) > 0.6 * CELL[0]


def test_feet_stand_on_the_line(dog: Rig, sheet: Image.Image) -> None:
    picture = cells(sheet)[2]
    line = np.flatnonzero((np.abs(picture.astype(int) - LINE).max(axis=2) < 60)[:, :6].all(axis=1))
    assert len(line)
    figure = np.abs(picture.astype(int) - cells(sheet)[2][3, 3]).max(axis=2) > 60
    assert figure[line[0] - 2, 10:-10].any(), "something stands right on the line"
    assert abs(picture.shape[0] - FOOT - line[0]) <= 2


def test_the_side_view_faces_right(dog: Rig) -> None:
    rows = framing_of(dog, resting(dog), shown_frames(resting(dog), 12)).rows(0, 0)
    np.testing.assert_allclose(rows @ dog.forward, [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(rows[1], [0.0, 1.0, 0.0], atol=1e-12)


def test_travel_moves_the_marks_and_not_the_character(dog: Rig, sheet: Image.Image) -> None:
    moving = cells(contact_sheet(dog, resting(dog, travel_m=1.7), cell=CELL))
    for still, moved in zip(cells(sheet)[:6], moving[:6]):
        assert (body(still) == body(moved)).mean() > 0.99
    strips = [picture[-FOOT + 2 : -FOOT + 6] for picture in moving[:6]]
    marks = [np.abs(strip.astype(int) - MARK).max(axis=2) < 45 for strip in strips]
    assert all(mark.any() for mark in marks)
    assert any((a != b).any() for a, b in pairwise(marks))


def test_a_turn_is_followed_by_the_camera(dog: Rig) -> None:
    motion = resting(dog)
    turned = np.zeros((FRAMES, 3))
    turned[:, 2] = np.linspace(0.0, np.pi / 2.0, FRAMES)
    framing = framing_of(dog, motion.with_(travel=turned), shown_frames(motion, 12))
    to_the_left = np.cross([0.0, 1.0, 0.0], dog.forward)
    np.testing.assert_allclose(framing.rows(0, 11) @ to_the_left, [1.0, 0.0, 0.0], atol=1e-9)
    start = motion.root[0] * [1.0, 0.0, 1.0]
    np.testing.assert_allclose(framing.centres[11], [start[2], 0.0, -start[0]], atol=1e-9)  # travel turns about the world's origin


def test_a_path_without_known_travel_is_followed(dog: Rig) -> None:
    motion = replace(resting(dog, travel_m=3.0), travel=None)
    framing = framing_of(dog, motion, shown_frames(motion, 12))
    passed = float((framing.centres[11] - framing.centres[0]) @ dog.forward)
    assert 2.5 < passed < 3.01, "all but what smoothing takes from its ends"


def test_a_motion_in_place_keeps_the_camera_where_it_is(dog: Rig) -> None:
    motion = replace(resting(dog, travel_m=0.02), travel=None)
    assert np.ptp(framing_of(dog, motion, shown_frames(motion, 12)).centres, axis=0).max() == 0.0


def test_loops_leave_out_their_last_frame(dog: Rig) -> None:
    motion = resting(dog, frames=25)
    assert list(shown_frames(motion.with_(loop=True), 12)) == list(range(0, 24, 2))
    assert shown_frames(motion, 12)[-1] == 24


def test_planted_feet_get_dots_of_their_side(dog: Rig) -> None:
    names = list(dog.skeleton.names)
    points = tuple(
        ContactPoint("toe", limb, names.index(joint), np.array([0.0, -0.04, 0.04]))
        for limb, joint in (("LF", "foreleg_paw_l"), ("RF", "foreleg_paw_r"))
    )
    contacts = np.zeros((FRAMES, 2), dtype=bool)
    contacts[:15, 0] = True
    contacts[15:, 1] = True
    rig = replace(dog, contact_points=points)
    cell = (300, 300)
    pictures = cells(contact_sheet(rig, resting(rig).with_(contacts=contacts), cell=cell), cell=cell)

    def dots(picture: np.ndarray, colour: tuple[int, int, int]) -> int:
        return int((np.abs(picture.astype(int) - colour).max(axis=2) < 12).sum())

    for first, last in ((pictures[0], pictures[-7]), (pictures[6], pictures[-1])):
        for picture, seen, missing in ((first, LEFT, RIGHT), (last, RIGHT, LEFT)):
            assert dots(picture, seen) > 8
            assert dots(picture, missing) == 0


def test_planted_feet_are_found_where_the_motion_does_not_say(dog: Rig) -> None:
    motion = resting(dog)
    planted = planted_points(dog, motion, framing_of(dog, motion, shown_frames(motion, 12)))
    assert len(dog.contact_points) >= 4
    assert [len(moment) for moment in planted] == [len(dog.contact_points)] * 12, "who stands stands on all feet"
    assert all(abs(point[1]) < 0.005 for point, _ in planted[0])


def test_light_changes_with_the_normal(person: Rig) -> None:
    flat = replace(person.skins[0], normals=np.tile([0.0, 1.0, 0.0], (len(person.skins[0].vertices), 1)))
    lit = contact_sheet(person, resting(person), columns=1, cell=CELL)
    overhead = contact_sheet(replace(person, skins=(flat, *person.skins[1:])), resting(person), columns=1, cell=CELL)
    difference = np.abs(np.asarray(lit).astype(int) - np.asarray(overhead).astype(int)).max(axis=2)
    assert (difference > 15).sum() > 200


def test_textures_and_vertex_colours_are_seen(person: Rig) -> None:
    skin = person.skins[0]
    white = replace(skin.material, colour=np.ones(4))
    green = np.full((4, 4, 4), (10, 220, 10, 255), dtype=np.uint8)
    count = len(skin.vertices)
    textured = replace(skin, uvs=np.full((count, 2), 0.4), colours=None, material=replace(white, texture=green))
    tinted = replace(skin, uvs=None, colours=np.tile([0.0, 0.0, 1.0, 1.0], (count, 1)), material=white)
    for jacket, channel in ((textured, 1), (tinted, 2)):
        rig = replace(person, skins=(jacket, *person.skins[1:]))
        pixels = np.asarray(contact_sheet(rig, resting(rig), columns=1, cell=CELL)).astype(int)
        assert (pixels[..., channel] - pixels[..., 0] > 60).sum() > 300


def test_normals_made_for_a_skin_without_them_agree_with_its_own(dog: Rig) -> None:
    skin = dog.skins[0]
    assert skin.normals is not None
    agreement = np.einsum("ni,ni->n", smooth_normals(skin), skin.normals)
    assert np.median(agreement) > 0.98


def test_normals_turn_with_the_body(dog: Rig) -> None:
    motion = resting(dog, frames=2)
    rotations = motion.rotations.copy()
    top = int(np.flatnonzero(dog.skeleton.parents < 0)[0])
    rotations[1, top] = [0.0, np.sin(np.pi / 4), 0.0, np.cos(np.pi / 4)]
    model = model_of(dog, motion.with_(rotations=rotations), [0, 1])
    expected = model.normals[0] @ np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]).T
    np.testing.assert_allclose(model.normals[1], expected, atol=1e-5)


def lifted(motion: Motion, metres: float) -> Motion:
    """The motion so much higher."""
    return motion.with_(root=motion.root + np.array([0.0, metres, 0.0]))


def rows_of(image: Image.Image, count: int) -> list[np.ndarray]:
    """The first pictures of the rows of a sheet of one block."""
    height = (image.height - TITLE - 2 * MARGIN) // count - MARGIN // 2
    tops = [TITLE + MARGIN // 2 + k * (height + MARGIN // 2) for k in range(count)]
    return [np.asarray(image)[top : top + height, MARGIN : MARGIN + CELL[0]] for top in tops]


def test_with_a_motion_before_each_row_has_its_like_above_it_in_one_scale(dog: Rig) -> None:
    motion = resting(dog).with_(provenance={"prompt": "a dog stands"})  # of what was made the ground is at zero, wherever its feet are
    side_before, side, quarter_before, quarter = rows_of(contact_sheet(dog, lifted(motion, 0.3), before=motion, columns=6, cell=CELL), 4)
    heights = [np.flatnonzero(body(picture).any(axis=1)) for picture in (side_before, side, quarter_before, quarter)]
    assert np.ptp(heights[0]) == pytest.approx(np.ptp(heights[1]), abs=1)
    assert np.ptp(heights[2]) == pytest.approx(np.ptp(heights[3]), abs=1)
    coat = np.ptp(np.flatnonzero(body(side).any(axis=0)))  # nearly all of the dog
    scale = coat / np.ptp(dog.skins[0].vertices @ dog.forward)
    risen = heights[0][0] - heights[1][0]
    assert risen == pytest.approx(0.3 * scale, rel=0.2), "the one that is lifted is higher, and below the one before"


def test_pictures_of_one_motion_twice_are_the_same_but_for_their_names(dog: Rig) -> None:
    motion = resting(dog)
    rows = rows_of(contact_sheet(dog, motion, before=motion, columns=6, cell=CELL), 4)
    for above, below in ((rows[0], rows[1]), (rows[2], rows[3])):
        assert (above[24:] == below[24:]).all()
        assert (above[:24] != below[:24]).any(), "one says that it is untracked, the other that it is tracked"


@pytest.mark.parametrize("renderer", ["mesh", "splat"])
def test_with_a_motion_before_a_sheet_is_twice_as_high(dog: Rig, renderer: str) -> None:
    motion = resting(dog)
    single = contact_sheet(dog, motion, columns=2, cell=CELL, renderer=renderer)
    double = contact_sheet(dog, motion, before=motion, columns=2, cell=CELL, renderer=renderer)
    assert double.width == single.width
    assert double.height - TITLE - 2 * MARGIN == 2 * (single.height - TITLE - 2 * MARGIN)


def test_a_motion_before_of_another_skeleton_is_refused(dog: Rig, person: Rig) -> None:
    with pytest.raises(RigError, match="joints"):
        contact_sheet(dog, resting(dog), before=resting(person))


def test_a_rig_without_a_mesh_is_refused(dog: Rig) -> None:
    with pytest.raises(RigError, match="no skinned triangles"):
        contact_sheet(replace(dog, skins=()), resting(dog))


def test_a_motion_of_another_skeleton_is_refused(dog: Rig, person: Rig) -> None:
    with pytest.raises(RigError, match="joints"):
        contact_sheet(dog, resting(person))


@pytest.mark.parametrize("options", [{"columns": 0}, {"cell": (20, 20)}])
def test_senseless_sizes_are_refused(dog: Rig, options: dict[str, object]) -> None:
    with pytest.raises(AkdError):
        contact_sheet(dog, resting(dog), **options)  # type: ignore[arg-type]


def test_saving_writes_a_whole_png_and_nothing_else(sheet: Image.Image, tmp_path: Path) -> None:
    path = save_sheet(sheet, tmp_path / "sheet.png")
    with Image.open(path) as back:
        assert back.format == "PNG"
        assert back.convert("RGB").tobytes() == sheet.tobytes()
    assert [file.name for file in tmp_path.iterdir()] == ["sheet.png"]


def test_saving_refuses_what_exists_unless_forced(sheet: Image.Image, tmp_path: Path) -> None:
    path = tmp_path / "sheet.png"
    path.write_bytes(b"mine")
    with pytest.raises(ExportError, match="exists"):
        save_sheet(sheet, path)
    assert path.read_bytes() == b"mine"
    save_sheet(sheet, path, force=True)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_saving_into_a_file_taken_for_a_folder_is_refused(sheet: Image.Image, tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(ExportError):
        save_sheet(sheet, tmp_path / "taken" / "sheet.png")
