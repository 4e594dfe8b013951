"""A clause against its source → documents, offices, payments and other content words that no source carries. Knows only texts.

Mandarin writes no word borders, so a word counts as known when its characters hang together in the source as well: pairs that
stand there, small words that carry a sentence, and short forms (身份证 of 居民身份证, 失业金 of 失业保险金).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_HEADS_TEXT = """
    证 卡 本 簿 表 书 单 函 局 所 处 院 校 站 店 部 会 队 科 室 金 费 款 险 税 贴 补 网 码 章 册 票 库 点 园 厅 口 区
    中心 大厅 窗口 社区 街道 医院 学校 银行 公司 机构 部门 保险 补贴 津贴 补助 应用 小程序 公众号 平台 网站 热线 基金
    公证 执照 许可 合同 协议 病历 照片 报告 录像 发票 护照 驾照 残联 法院 公安 民政 工会 村委 居委 物业 超市
"""
_HEADS = tuple(sorted(_HEADS_TEXT.split(), key=len, reverse=True))
# carry a sentence and state no fact of their own; also the verbs of going somewhere and handing something in
_LIGHT_TEXT = """
    的 了 吗 呢 吧 啊 着 过 是 在 和 与 及 或 并 而 也 都 就 才 还 再 又 则 即 等 只 需 须 要 可 能 会 请 您 你 我 他
    她 它 们 其 该 此 这 那 有 没 不 无 为 被 把 将 由 从 到 去 来 向 给 对 于 按 以 用 凭 持 带 拿 交 办 领 付 缴 打
    找 看 问 说 写 填 行 好 完 齐 得 做 个 先 后 前 内 里 中 上 下 外 起 止 至 每 各 时 间 时候 一 二 两 三 四 五 六 七 八
    九 十 百 千 万 亿 零 半 第 年 月 日 天 号 周 岁 元 块 次 倍 份 位 名 人 些 点 分 刻 小时 分钟 季度 仅 均 尽 所 之
    还是 到期 提前 幺 某 曾 刚 快 早 晚 便 也就 越 工作日 个月 早上 晚上 上午 下午 中午 夜间 当天 当场 当日 次日
    第二天 现在 今天 平时 您好 本人 自己 我们 他们 这个 那个 这些 那些 这里 那里 或者 以及 并且 而且 即可 就行 就可以
    只要 只需 需要 必须 应 应当 应该 可以 能够 没有 不用 不需要 不能 不可 不得 免费 不收费 收费 收取 费用 按照 根据
    依据 依照 通过 使用 利用 携带 带上 带好 备好 提交 提供 出示 准备 办理 申请 申领 领取 前往 登录 拨打 联系 咨询 进行
    完成 如果 如 若 因为 因此 所以 由于 但 但是 不过 然后 之后 以后 以前 之前 以内 之内 期间 一般 通常 首先 其次 最后
    最多 最少 至少 最高 最低 最长 最晚 最迟 最早 大约 左右 具体 相关 有关 同时 一起 另外 此外 例如 比如 包括 属于 得到
    获得 方式 方法 情况 情形 手续 流程 程序 材料 资料 时间 地点 地方 内容 问题 事 事项 要求 条件 规定 步骤 结果 直接 也可
    均可 即时 处理 所有 所在 所需 本市 本地 当地 网上 线上 线下 现场 会在 会有 代表 表示 书面 以下 以上 超过 不超过
    不满 以外 除外 连续 期满 满 达到 标准 金额 总额 数额 计算 支付 缴纳 交纳 支取 发放 发给 打到 到账 办好 办完 办结
    出结果 有效 准确 注意 建议 尽快 及时 立即 马上 抓紧 记得 最好 方便 简单 麻烦 一趟 来说 关于 对于 至于 就是 只有
    只是 还有 也是 已经 正在 后再 再去 即将 解决 帮助 告诉 告知 说明 了解 知道 查询 确认 核实 审核 审查 补办 补领 换领
    变更 更改 注销 提取 登记 预约 报名 打印 上传 下载 填写 签订 签字 续签 购买 报销 享受 缴费 报警 投诉 举报 反映 维修
    退还 返还 任何 全部 部分 其他 其它 其余 另 共 总共 一共
"""
_LIGHT = re.compile("|".join(sorted(map(re.escape, set(_LIGHT_TEXT.split())), key=len, reverse=True)))
_SAME = (
    ("户口本", "户口簿"),
    ("户籍", "户口"),
    ("驾照", "驾驶证"),
    ("医疗保险", "医保"),
    ("社会保险", "社保"),
    ("个税", "个人所得税"),
)
_PROOF = ("证明", "證明")  # 房产证明 is no 房产证
_HANZI = re.compile("[\u4e00-\u9fff]+")
_SHORT_FORM_AT_MOST = 8
_LONGEST_WORD = 6
_STRANGE_FROM = 2
_TELLING_FROM = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungrounded:
    """Words that no source carries. has_head: they name a document, an office, a payment or the like."""

    words: str
    has_head: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    pairs: frozenset[str]
    chars: frozenset[str]
    text: str

    def is_short_form(self, word: str) -> bool:
        """Its characters stand in order within one longer word."""
        between = f"[\u4e00-\u9fff]{{0,{_SHORT_FORM_AT_MOST - len(word)}}}?"
        found = re.search(between.join(map(re.escape, word)), self.text)
        return found is not None and len(found.group()) <= _SHORT_FORM_AT_MOST


def ungrounded(said: str, source: str) -> Sequence[Ungrounded]:
    """What a clause says beyond its source. The question is none: who asks for 经营性公墓 must not hear the price of 公益性."""
    known = _known(_folded(source))
    return [each for run in _HANZI.findall(_folded(said)) for each in _strange(run, known)]


def coverage(said: str, source: str) -> float:
    """The share of a clause's content characters that hang together in the source too. 1.0 where it holds too few to tell."""
    said, known = _folded(said), _known(_folded(source))
    states = [state for run in _HANZI.findall(said) for state in _states(run, known)]
    content = [state for state in states if state != _CARRIER]
    return sum(state == _HELD for state in content) / len(content) if len(content) >= _TELLING_FROM else 1.0


_HELD, _CARRIER, _LOOSE = "held", "carrier", "loose"


def _folded(text: str) -> str:
    for word, same in (*_SAME, _PROOF):
        text = text.replace(word, same)
    return text


def _known(text: str) -> _Known:
    pairs = frozenset(first + second for first, second in pairwise(text))
    return _Known(pairs=pairs, chars=frozenset(text), text=text)


def _states(run: str, known: _Known) -> list[str]:
    """For each character: held by a pair of the source, part of a small word, or neither."""
    states = [_LOOSE] * len(run)
    for found in _LIGHT.finditer(run):
        states[found.start() : found.end()] = [_CARRIER] * len(found.group())
    if len(run) == 1 and run in known.chars:
        return [_HELD]
    for at, (first, second) in enumerate(pairwise(run)):
        if first + second in known.pairs and {states[at], states[at + 1]} != {_CARRIER}:
            states[at] = states[at + 1] = _HELD
    return states


def _strange(run: str, known: _Known) -> Iterator[Ungrounded]:
    """Loose characters, joined to words; then words whose parts are known and that are not."""
    states = _states(run, known)
    for start, end in _stretches(states):
        has_head = _head_at(run, end)
        if has_head and any(known.is_short_form(run[at:end]) for at in range(_word_start(states, start), end - 1)):
            continue
        if has_head or end - start >= _STRANGE_FROM or run[start] not in known.chars:
            after = _word_end(run, states, end)
            yield Ungrounded(words=run[_word_start(states, start) : after], has_head=has_head or _head_at(run, after))
    yield from _joined(run, states, known)


def _stretches(states: Sequence[str]) -> Iterator[tuple[int, int]]:
    start = None
    for at, state in enumerate([*states, _CARRIER]):
        if state == _LOOSE and start is None:
            start = at
        elif state != _LOOSE and start is not None:
            yield start, at
            start = None


def _word_start(states: Sequence[str], at: int) -> int:
    while at > 0 and states[at - 1] != _CARRIER:
        at -= 1
    return at


def _word_end(run: str, states: Sequence[str], at: int) -> int:
    while at < len(run) and states[at] != _CARRIER and not _head_at(run, at):
        at += 1
    return at


def _head_at(run: str, end: int) -> bool:
    """A head ends here."""
    return any(run.endswith(head, 0, end) for head in _HEADS)


def _joined(run: str, states: Sequence[str], known: _Known) -> Iterator[Ungrounded]:
    """A held word with a head, that reads otherwise in the source: 失业 and 养老保险 make no 失业保险."""
    for end in range(2, len(run) + 1):
        if not _head_at(run, end) or states[end - 1] != _HELD or run[end - 1 : end + 1] in known.pairs:
            continue
        start = end - 1
        while start > 0 and run[start - 1 : start + 1] in known.pairs:
            start -= 1
        if _LIGHT.search(run, start, end - 2):
            continue  # a small word is the word's border
        before = _word_start(states, start)
        if start == end - 1 or (start > before and not _head_at(run, start) and start - before < _LONGEST_WORD):
            word = run[before:end]
            if not known.is_short_form(word):
                yield Ungrounded(words=word, has_head=True)
