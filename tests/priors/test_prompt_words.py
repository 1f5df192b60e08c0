import pytest

from akd_sdk.errors import PromptError
from akd_sdk.priors.mini.lexicon import parse
from akd_sdk.priors.mini.vocabulary import ACTIONS, CANONICAL


@pytest.mark.parametrize(
    ("sentence", "body", "action", "styles"),
    [
        ("a dog trotting", "quadruped", "trot", ()),
        ("the wolf is running quickly", "quadruped", "gallop", ("fast",)),
        ("a dog jogging", "quadruped", "trot", ()),
        ("a dog jogs lazily", "quadruped", "trot", ("slow",)),
        ("a horse gallops across a meadow", "quadruped", "gallop", ()),
        ("a wolf pacing", "quadruped", "pace", ()),
        ("the deer paced", "quadruped", "pace", ()),
        ("a knight jogs", "biped", "run", ()),
        ("a soldier sprinted", "biped", "run", ()),
        ("he ran", "biped", "run", ()),
        ("someone hops", "biped", "jump", ()),
        ("the girl leaped", "biped", "jump", ()),
        ("a dog standing still", "quadruped", "idle", ()),
        ("a man strolls slowly", "biped", "walk", ("slow",)),
        ("a person walking at a slow pace", "biped", "walk", ("slow",)),
        ("A T-Rex? no: an ostrich, RUNNING!", "bird", "run", ()),
        ("walk", "bird", "walk", ()),
    ],
)
def test_sentence_is_read_as_meant(sentence, body, action, styles):
    prompt = parse(sentence, body)
    assert (prompt.action, prompt.styles, prompt.body, prompt.sentence) == (action, styles, body, sentence)


def test_every_taught_action_is_known_by_its_own_word():
    for body, actions in ACTIONS.items():
        for action in actions:
            assert parse(f"a {body} {action}s", body).action == action
            assert action in CANONICAL


def test_unknown_words_come_back_in_order_and_once():
    prompt = parse("a purple knight walks purple limping sadly", "biped")
    assert prompt.unknown == ("purple", "limping", "sadly")


@pytest.mark.parametrize("sentence", ["", "   ", "\n\t"])
def test_empty_sentence_is_refused(sentence):
    with pytest.raises(PromptError, match="empty"):
        parse(sentence, "biped")


def test_misspelt_action_is_refused_with_the_nearest_and_all_actions():
    with pytest.raises(PromptError) as caught:
        parse("a dog wlaking", "quadruped")
    line = str(caught.value)
    assert "\n" not in line
    assert "walk" in line.split("nearest are")[1]
    assert all(action in line for action in ACTIONS["quadruped"])


def test_unknown_action_lists_what_the_body_can_do():
    with pytest.raises(PromptError, match="a biped can walk, run, jump or idle"):
        parse("a knight xyzzying", "biped")


@pytest.mark.parametrize(("sentence", "body"), [("a man trotting", "biped"), ("a knight gallops", "biped"), ("a hen pacing", "bird")])
def test_action_that_the_body_was_not_taught_is_refused(sentence, body):
    with pytest.raises(PromptError, match=f"a {body} was not taught to"):
        parse(sentence, body)


def test_body_noun_that_contradicts_the_rig_is_noted():
    prompt = parse("a dog running", "biped")
    assert prompt.action == "run"
    assert any("dog" in note and "biped" in note for note in prompt.notes)
    assert parse("a dog trotting", "quadruped").notes == ()


def test_second_action_and_contradicting_styles_are_noted():
    prompt = parse("a cat walks slowly then jumps fast", "quadruped")
    assert prompt.action == "walk"
    assert prompt.styles == ("fast",)
    assert any("jump" in note for note in prompt.notes)
    assert any("slowly" in note for note in prompt.notes)


def test_style_of_an_action_without_strides_is_noted_not_used():
    prompt = parse("a fox jumping quickly", "quadruped")
    assert prompt.styles == ()
    assert any("fast" in note for note in prompt.notes)


def test_body_without_actions_is_refused():
    with pytest.raises(PromptError, match="unknown"):
        parse("walk", "unknown")


@pytest.mark.parametrize("sentence", ["!!!", "12 34", "колесо", "ing ed s", "'s ’s -", "a" * 10_000])
def test_odd_text_is_refused_in_one_line(sentence):
    with pytest.raises(PromptError) as caught:
        parse(sentence, "quadruped")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
