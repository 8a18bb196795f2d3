"""Other spellings of image names that would pair."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.evaluation import pairing
from evaltex_cli.old_formats.files import image_names

NAMES = st.lists(
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "gt_", "res_", "a/"]),
        st.sampled_from(["img_", "IMG_", "x", "page"]),
        st.sampled_from(["1", "01", "2", "10", "3_1", ""]),
        st.sampled_from(["", ".jpg", ".PNG", ".txt"]),
    ),
    unique=True,
    max_size=12,
)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(NAMES, NAMES)
def test_spellings_pair_one_to_one(gt, det):
    pairs = pairing.would_pair(gt, det)
    assert set(pairs) <= set(gt)
    partners = [name for name, _ in pairs.values()]
    assert len(set(partners)) == len(partners)
    assert set(partners) <= set(det)
    for ours, (theirs, by) in pairs.items():
        same_stem = image_names.stem(ours).casefold() == image_names.stem(theirs).casefold()
        assert (
            same_stem if by == "stem" else pairing.numbers(ours)[-1] == pairing.numbers(theirs)[-1]
        )


def test_spellings_that_are_not_clear_do_not_pair():
    assert pairing.would_pair(["img_1", "pic_1"], ["1"]) == {}
    assert pairing.would_pair(["a", "b"], ["c"]) == {}
    assert pairing.would_pair(["img_1", "img_2"], ["2", "01"]) == {
        "img_1": ("01", "number"),
        "img_2": ("2", "number"),
    }
    assert pairing.would_pair(["img_1"], ["gt_img_1.jpg", "img-1"]) == {
        "img_1": ("gt_img_1.jpg", "stem")
    }
