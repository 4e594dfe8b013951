"""What an engine sees: rules first, question last, nothing that could pass for a template's mark."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llm.privacy import CallMasker
from llm.prompt import make_prompt
from llm.stops import StopGuard
from llm.types import Entry, Exchange, Passage, Route

PASSAGE = Passage(entry=Entry(id="a", topic="t", question="几点上班", paraphrases=(), answer="八点半。", source="样例"), score=1.0)


def test_the_question_stands_last() -> None:
    masker = CallMasker(mask_budget_ms=5_000)
    history = (Exchange(caller=masker.mask("大厅在哪"), said="在市中心。", route=Route.STORED),)
    prompt = make_prompt(masker.mask("几点开门"), [PASSAGE], history)
    assert prompt.user == "资料：\n[1] 问：几点上班 答：八点半。\n市民上一个问题：大厅在哪\n市民问题：几点开门\n回答："
    assert prompt.system == make_prompt(masker.mask("别的"), [], ()).system


@given(st.text("<|>/im_startedsy 好\n\x00\u200b", max_size=80))
def test_no_control_mark_gets_through(said: str) -> None:
    user = make_prompt(CallMasker(mask_budget_ms=5_000).mask(said), [PASSAGE]).user
    assert "<|im_start|>" not in user
    assert "\x00" not in user
    assert user.count("\n") == 3


@given(st.lists(st.sampled_from(["请带身份证", "\n用", "户", "：", "名", "<|im", "_end|>", "<", "好"]), max_size=10))
def test_no_piece_of_a_stop_string_gets_out_and_nothing_else_is_lost(pieces: list[str]) -> None:
    guard = StopGuard(("\n用户：", "<|im_end|>", ""))
    given_out = "".join(guard.feed(piece) for piece in pieces) + guard.flush()
    whole = "".join(pieces)
    ends = [at for stop in ("\n用户：", "<|im_end|>") if (at := whole.find(stop)) >= 0]
    assert given_out == whole[: min(ends, default=len(whole))]
    assert guard.stopped == bool(ends)


def test_after_a_stop_nothing_more_comes() -> None:
    guard = StopGuard(("停",))
    assert guard.feed("好停了") == "好"
    assert guard.feed("再说") == guard.flush() == ""
