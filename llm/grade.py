"""A caller's words → the grade that they give the call, 1 to 5. Knows nothing of the question, of keys or of the record.

The five grades of public hotlines: 非常满意, 满意, 基本满意, 不满意, 非常不满意. Words count by sound, numerals only as written
(四分 sounds like 十分), and the whole turn must be a grade: 满意，不过我还想问… is a question.
"""

from __future__ import annotations

import re

from llm.dialogue_acts import Act, act_of, folded, spans
from llm.sound import sound_of

NO_GRADE = 0

_AROUND = (
    "嗯 呃 啊 哦 呀 吧 哈 嘛 呢 了 的 那 那个 就 就是 我 你 您 你们 您们 它 哎 喂 好 好的 好吧 行 我觉得 觉得 感觉 认为 打 给 给你 "
    "给您 给你们 选 评 评价 我的评价是 服务 服务态度 态度 这次 本次 总体 总的来说 整体 是 对 还是 还 都 个 我说 说 这个 应该 "
    "应该是 算 可以说 谢谢 谢谢你 谢谢您 感谢 辛苦了 再见 拜拜 回答 解答 挺"
)
_BEST = (
    "非常满意 很满意 特别满意 十分满意 太满意了 满意极了 相当满意 超级满意 最满意 满分 一百分 五星好评 好评 很好 非常好 特别好 "
    "太好了 好极了 非常棒 很棒 太棒了 完美 非常不错 很不错"
)
_WORST = (
    "非常不满意 很不满意 特别不满意 十分不满意 太不满意了 极不满意 最不满意 一点都不满意 一点也不满意 完全不满意 差评 太差了 "
    "很差 非常差 特别差 极差 差劲 差得很 零分 糟糕 太糟糕了 太糟了"
)
_BAD = "不满意 不太满意 不怎么满意 不是很满意 不是太满意 不大满意 不好 不太好 不怎么样 不怎么好 比较差 有点差 有点不满意 差 不行"
_MIDDLING = "基本满意 还算满意 勉强满意 一般 一般般 一般满意 凑合 还凑合 马马虎虎 还行 还可以 还好 可以 中等 普通 还过得去"
_GOOD = "满意 比较满意 蛮满意 挺满意 满意的 挺好 挺好的 不错 挺不错 蛮好 蛮好的 挺棒"
_WORDS = ((5, _BEST), (1, _WORST), (2, _BAD), (3, _MIDDLING), (4, _GOOD))  # 非常不满意 before 不满意
_NUMERAL = re.compile(
    r"^(?:[嗯呃啊哦那就好的我你您们觉得是打给选按评要来]|第|服务)*?"
    r"(?:(?P<five>[五5伍]|[无午舞](?=[分星颗]))|(?P<four>[四4肆])|(?P<three>[三3叁])|(?P<two>[二2两贰])|(?P<one>[一1幺壹]))"
    r"(?:(?:分|颗?星|个?星|号?键|号|个|级)(?!钟))?(?:好评)?[吧啊呀的了嘛谢您你]*$"
)
_GRADES = {"five": 5, "four": 4, "three": 3, "two": 2, "one": 1}
_RATHER_NOT = (
    "不评价 不评价了 不用评价 不想评价 不评 不评了 不打分 不打分了 不用 不用了 不需要 不必 不必了 不了 算了 免了 随便 都行 无所谓 "
    "没意见 没有意见 没什么意见 不方便"
)


def grade_of(text: str) -> int | None:
    """1 to 5; NO_GRADE from who would rather give none, or says goodbye; None when the words are no grade."""
    said = folded(text)
    if numeral := _NUMERAL.match(said):
        return _GRADES[str(numeral.lastgroup)]
    sounds = tuple(map(sound_of, said))
    for grade, words in _WORDS:
        if spans(sounds, words, _AROUND):
            return grade
    declined = spans(sounds, _RATHER_NOT, _AROUND) or act_of(text) in {Act.GOODBYE, Act.THANKS}
    return NO_GRADE if declined else None
