"""Names: found in texts, ranked by use, left out where they are in sight."""

from __future__ import annotations

from wayfare.context.names import INPUT_WEIGHT, InSight, Ranking, found_in, listed


def test_file_names_and_identifiers_are_told_from_words() -> None:
    found = found_in("open src/app.py, see parse_date. parseDate() of MAX_SIZE in notes.md.")
    assert set(found.files) == {"app.py", "notes.md"}
    assert set(found.identifiers) == {"parse_date", "parseDate", "MAX_SIZE"}


def test_a_name_the_model_wrote_ranks_before_one_it_was_shown() -> None:
    ranking = Ranking()
    ranking.use({"shown_lately": 1}, 5)
    ranking.use({"written_once": 1}, 4, weight=INPUT_WEIGHT)
    assert ranking.ranked() == ["written_once", "shown_lately"]


def test_frequency_fades_with_age() -> None:
    ranking = Ranking()
    for step in range(3):
        ranking.use({"often_before": 1}, step)
    ranking.use({"just_now": 1}, 400)
    assert ranking.ranked() == ["just_now", "often_before"]


def test_what_is_in_sight_is_not_listed_again() -> None:
    seen = InSight(["see src/app.py and self.parse_date"])
    assert listed(["app.py", "parse_date", "other_name"], 100, seen) == "other_name"


def test_a_list_keeps_to_its_room() -> None:
    assert listed(["first_name", "second_name"], 15) == "first_name"
