from hypothesis import given
from hypothesis import strategies as st

from transforms.tag.spans import SpanSet

SPANS = st.tuples(st.integers(0, 40), st.integers(1, 10)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(SPANS, max_size=12), SPANS)
def test_overlap_is_what_a_plain_search_says(spans, span):
    start, end = span
    assert SpanSet(spans).overlaps(start, end) == any(first < end and start < last for first, last in spans)
