"""The sentences of the answering room, in one place so that their audio can be made beforehand. Knows no entries and no caller."""

from __future__ import annotations

from collections.abc import Sequence

from llm.types import Dialogue, Personal, Route

ANYTHING_ELSE = "还有什么可以帮您？"
GOODBYE = "好的，感谢您的来电。"  # the call itself says the last words
TO_PERSON = "好的，马上为您转接工作人员，请稍等。"
TO_PERSON_AGAIN = ("好的，我再为您接一次工作人员，请您不要挂机。", "好的，这就再试着接通工作人员，麻烦您稍等。")
NOT_KNOWN = "这个问题，我需要请工作人员为您解答。请稍等，正在为您转接。"
STILL_UNCLEAR = "抱歉，我还是没有弄明白。请稍等，我请工作人员来帮您。"
SAY_OTHERWISE = "抱歉，我没有查到这件事。请您换个说法再说一遍，也可以说转人工，请工作人员解答。"
IN_CHINESE = "抱歉，我只能用中文回答。请您用中文把问题说一遍；如需英文服务，请说转人工。"
WHICH_MATTER = "请问您问的是哪件事？请把事情和问题一起说一遍。"
AGAIN = "好的，我再说一遍。"
NOTHING_SAID_YET = "您好，我在听。请问您想咨询什么？"
I_HEAR_YOU = "听得到，您请讲。"
WHAT_ELSE = f"好的，{ANYTHING_ELSE}"
WELCOME = f"不客气，{ANYTHING_ELSE}"
NOT_HUMAN = "我是人工智能语音助手，需要人工请说转人工。"
NO_VERDICT = "结果要由仲裁机构或者法院决定，我不能替您判断。需要的话，请说转人工，请工作人员为您解答。"
GO_ON = "好的，我继续为您服务，您请说。"
WHICH_OF_TWO = "请您说第一个，还是第二个？"
ASK_AGAIN = "抱歉，没有答到您问的事。请您把问题再说一遍。"
GO_AHEAD = "好的，您请说。"
NEEDS_PERSON = "这件事要由工作人员接着为您办，正在为您转接，请稍等。"
NOT_STATED = "您问的这一点，我这里没有查到，需要的话请说转人工。"
AND_THEN = "另外，"
ONE_AT_A_TIME = "您问的另一件事，请您再单独说一遍。"
CAN_BE_REGISTERED = "您反映的事，可以由工作人员登记处理。"
REGISTER = "要为您登记这件事吗？"
TO_REGISTER = "好的，马上转给工作人员为您登记，请稍等。"
CHECKED_AGAIN = "我核对过了，"
AS_REVIEWED = "我把完整的答复念一遍。"

_LENGTHS = {Personal.MOBILE: ("十一位", 11), Personal.ID_CARD: ("十八位", 18), Personal.BANK_CARD: ("完整的", 16)}


def to_person(dialogue: Dialogue) -> str:
    """Who asks again, because nobody could be reached, never hears the same sentence twice running."""
    before = sum(exchange.route is Route.PERSON for exchange in dialogue.history)
    return TO_PERSON_AGAIN[(before - 1) % len(TO_PERSON_AGAIN)] if before else TO_PERSON


def noted(kind: Personal) -> str:
    """Heard, and not read back, since others may listen. Nothing is kept, so nothing is promised."""
    return f"好的，我听到了。需要时，工作人员会再和您核对{kind.value}。{ANYTHING_ELSE}"


def incomplete(kind: Personal, length: int) -> str:
    """length: characters that were heard."""
    name, due = _LENGTHS.get(kind, ("完整的", 0))
    wrong = "好像少了几位" if length < due else "好像有一位不对"
    return f"您的{kind.value}，{wrong}。请您从头再说一遍{name}号码。"


def did_you_mean(questions: Sequence[str], place: str = "") -> str:
    """One or two candidates, by their own wording. place: said when the caller named another one."""
    first = f"您是想问{place}{'的' if place else ''}{questions[0]}"
    head = f"我这里只有{place}的规定。" if place else ""
    if len(questions) == 1:
        return f"{head}{first}{_end_of(questions[0])}"
    return f"{head}{first}，还是{questions[1]}？"


def _end_of(question: str) -> str:
    """A question that asks yes or no by itself takes no second 吗."""
    if question.endswith(("？", "?")):
        return ""
    return "？" if question.endswith(("吗", "呢", "么", "吧")) and not question.endswith("什么") else "吗？"


def fixed() -> tuple[str, ...]:
    """Every sentence that never changes."""
    kinds = (Personal.MOBILE, Personal.NAME, Personal.ADDRESS, Personal.ID_CARD)
    return (
        *(
            GOODBYE,
            TO_PERSON,
            *TO_PERSON_AGAIN,
            NOT_KNOWN,
            STILL_UNCLEAR,
            SAY_OTHERWISE,
            IN_CHINESE,
            WHICH_MATTER,
            AGAIN,
            NOTHING_SAID_YET,
            I_HEAR_YOU,
        ),
        *(AS_REVIEWED, WHAT_ELSE, WELCOME, NOT_HUMAN, NO_VERDICT, GO_ON, WHICH_OF_TWO, ASK_AGAIN, GO_AHEAD, NEEDS_PERSON),
        *(NOT_STATED, ONE_AT_A_TIME, CAN_BE_REGISTERED + REGISTER, *(noted(kind) for kind in kinds)),
    )
