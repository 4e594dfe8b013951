"""Spans that name something and are dictated: phones, hotlines, tickets, plates, trains, rooms, documents, net addresses.

Knows nothing of quantities.
"""

import re

from hotline.zh.numerals import read_digits
from tts.normalise.figures import name, number, one_by_one, ordinal, year
from tts.normalise.scan import Place, Rule, rule

_KINDS = "手机号|座机号|身份证号|护照号|银行卡号|车牌号|邮箱|账号|姓名|地址|出生日期|号码|内容"
_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_KNOWN_HOTLINES = frozenset({
    "110", "112", "114", "119", "120", "122", "999", "10000", "10010", "10050", "10086", "10099", "11185", "11183",
    "12110", "12117", "12119", "12121", "12122", "12123", "12301", "12302", "12305", "12306", "12308", "12309", "12310",
    "12312", "12313", "12315", "12316", "12317", "12318", "12320", "12321", "12323", "12325", "12326", "12328", "12329",
    "12330", "12331", "12333", "12335", "12336", "12337", "12338", "12339", "12340", "12345", "12346", "12348", "12349",
    "12350", "12351", "12355", "12356", "12358", "12360", "12361", "12363", "12365", "12366", "12367", "12368", "12369",
    "12371", "12377", "12378", "12379", "12380", "12381", "12385", "12386", "12388", "12389", "12390", "12393", "12395",
    "12396", "12398", "95598",
})  # fmt: skip
_PHONE_BEFORE = re.compile(
    r"(?:拨打?|致电|来电|打|呼叫|联系|联系电话|电话|热线|专线|客服|座机|传真|总机|手机|手机号|号码|短信至|发送至|咨询|投诉|举报|报警|求助|火警|匪警|急救|救援|交警|消防)"
    r"(?:号码?)?(?:了|到|至|是|为|请打|请拨打?|：|:|，|\s)*$"
)
_PHONE_AFTER = re.compile(
    r"\s?(?:[一-龥]{0,8}(?:热线|专线|电话|客服|平台|报警|急救)|火警|消防|交警|反诈|举报|投诉|咨询|查号|号码|号(?![楼院店线门房桌窗]))"
)
_SUM_BEFORE = re.compile(r"(?:补助|补贴|奖励|金额|缴纳|合计|总计|共计?|约|近|超过|达到?|人口|数量|总数)(?:为|是)?\s?$")
_NAMED_BEFORE = re.compile(
    r"(?:(?<![限挂放摇抢])号码?|编号|单号|账号|帐号|卡号|学号|工号|案号|代码|编码|条码|邮编|邮政编码|验证码|校验码|取件码|提取码|识别码|密码|口令|尾号|"
    r"房号|门牌|车牌|身份证|银行卡|护照|信用代码|流水号?|序列号?|QQ|qq|微信号?|会议号|ID|id|群|网点|末四位|后四位|前三位)"
    r"(?:号)?(?:分别)?(?:(?:是|为|：|:|尾号)，?|\s)*$"
)
_COUNTED = re.compile(  # 身份证，15日内; 挂号20元; but 尾号1234本人, 尾号1234次日到账
    r"[1-9]\d{0,5}(?:-\d{1,6})?\s?(?:[个元块万亿张份件条项岁倍秒位点]|次(?!日)|名(?![称下字])|人(?![工员民社脸])|家(?![住人])|户(?![口名主])"
    r"|本(?![人市地次单月年])|天(?![河津府猫])|年(?![底初费审检])|周(?![一二三四五六日末围])|行(?![驶程])|时(?![间候长])|小时|分钟|米|公里|页|工作日)"
    r"|[1-9]\d?(?:-\d\d?)?\s?[月日]"
)
_LONGEST_SUM = 13  # digits
_WORD = 3  # letters: COVID-19 has no 杠, A-1 has
_ROOM_AFTER = re.compile(r"\s?(?:号)?(?:室|房|宿舍|会议室|办公室|教室|诊室|病房|包厢|包间|机房|信箱|门(?!诊))(?!\d{0,2}厅)")
_ROOM_BEFORE = re.compile(r"(?:单元|栋|幢|座|号楼|楼|层|房间|房号|室|[A-Za-z]区|#)\s?[-]?$")
_COUNTABLE = re.compile(
    r"\s?(?:[元块万亿千百个位名人份件次天年月日周倍岁项条家户套张本辆台部米斤克吨升种批页多余来立公毫厘℃°%‰例起宗桩]|平[方米]|小时|分钟|美元|欧元|kg|km|m)"
)


@rule("placeholder", rf"(?P<your>)[〈<⟨](?P<kind>{_KINDS})(?:·\d{{1,4}})?[〉>⟩]")
def placeholder(found: re.Match[str], place: Place) -> str | None:
    """〈手机号·1〉 → 您的手机号."""
    kind = "您说的内容" if found["kind"] == "内容" else f"您的{found['kind']}"
    return found["kind"] if re.search("[您你我他她]的$", place.before) and found["kind"] != "内容" else kind


def _spell(text: str) -> str:
    """An address of the net, character by character where it isn't letters."""
    marks = {
        ".": "点",
        "/": "斜杠",
        "@": "艾特",
        "_": "下划线",
        "-": "杠",
        ":": "冒号",
        "?": "问号",
        "=": "等于",
        "&": "和",
        "#": "井号",
        "%": "百分号",
    }
    return "".join(marks.get(char, one_by_one(char) if char.isdigit() else char) for char in text)


@rule("net", r"[A-Za-z0-9][A-Za-z0-9._+\-]{0,63}@[A-Za-z0-9][A-Za-z0-9.\-]{0,200}[A-Za-z]")
def mail(found: re.Match[str], _: Place) -> str | None:
    """An e-mail address."""
    return re.sub(r"\d+", lambda run: one_by_one(run[0]), found[0]).translate(_MAIL) if "." in found[0].split("@")[1] else None


_MAIL = {ord("."): "点", ord("@"): "艾特", ord("_"): "下划线", ord("-"): "杠", ord("+"): "加"}


@rule("net", r"https?://(?P<rest>[A-Za-z0-9._~:/?#@!$&*+=%\-]{1,300})")
def link(found: re.Match[str], _: Place) -> str | None:
    """A link: its scheme is not spoken."""
    rest = found["rest"].rstrip("./:?!")
    return re.sub(r"[^A-Za-z0-9一-龥]", _spell_mark, re.sub(r"\d+", lambda run: one_by_one(run[0]), rest))


def _spell_mark(found: re.Match[str]) -> str:
    return _spell(found[0])


@rule(
    "net",
    r"(?:www\.)?(?:[A-Za-z0-9][A-Za-z0-9\-]{0,62}\.){1,6}(?:com|cn|net|org|gov|edu|io|vip|top|info|cc)(?:/[A-Za-z0-9._/\-]{0,100})?(?![A-Za-z0-9])",
)
def domain(found: re.Match[str], _: Place) -> str | None:
    """www.12333.gov.cn."""
    text = found[0].rstrip("/.")
    trail = found[0][len(text) :]
    return re.sub(r"[./\-_]", _spell_mark, re.sub(r"\d+", lambda run: one_by_one(run[0]), text)) + trail.replace("/", "")


@rule("document", r"(?P<open>[〔\[(（])(?P<y>(?:19|20)\d\d)[〕\])）](?P<rest>第?)(?P<n>\d{1,5})(?P<unit>号)")
def document(found: re.Match[str], _: Place) -> str | None:
    """〔2023〕5号."""
    return f"{year(found['y'])}年{found['rest']}{ordinal(found['n'])}号"


@rule(
    "document",
    r"[〔\[(（](?P<y>(?:19|20)\d\d)[〕\])）](?P<court>[一-龥])(?P<n>\d{2,4})(?P<kind>[一-龥]{1,4})(?P<m>\d{1,6})(?P<unit>号)",
)
def court_case(found: re.Match[str], _: Place) -> str | None:
    """(2023)浙01民初123号."""
    return f"{year(found['y'])}年{found['court']}{one_by_one(found['n'])}{found['kind']}{number(found['m'])}号"


@rule("phone", r"(?:\+|00)86[- ]?(?P<n>1[3-9]\d)[- ]?(?P<m>\d{4})[- ]?(?P<l>\d{4})(?!\d)")
def mobile_abroad(found: re.Match[str], _: Place) -> str | None:
    """+86 138 0013 8000."""
    return "加" + one_by_one("86") + one_by_one(found["n"] + found["m"] + found["l"])


@rule("phone", r"(?P<n>1[3-9]\d)(?P<sep>[- ]?)(?P<m>\d{4})(?P=sep)(?P<l>\d{4})(?![\d])(?!\.\d)")
def mobile(found: re.Match[str], place: Place) -> str | None:
    """13800138000, 138-0013-8000."""
    return None if not found["sep"] and _COUNTABLE.match(place.after) else one_by_one(found["n"] + found["m"] + found["l"])


@rule("phone", r"(?P<a>\d{1,6})(?P<stars>\*{2,14}|[Xx×]{3,14})(?P<b>\d{0,6})")
def masked_digits(found: re.Match[str], _: Place) -> str | None:
    """138****5678."""
    return (
        f"{one_by_one(found['a'])}，{number(str(len(found['stars'])), '位')}位隐去，{one_by_one(found['b']) if found['b'] else ''}"
    )


@rule(
    "phone",
    r"[(（]?(?P<a>0(?:10|2\d|[3-9]\d\d))[)）]?[- ]?(?P<n>[2-9]\d{6,7}|\d{4}[- ]\d{4})(?:(?P<ext>[-转])(?P<x>\d{1,6}))?(?!\d)",
)
def landline(found: re.Match[str], _: Place) -> str | None:
    """0571-85000000, (010)85000000, 0571-85000000-803."""
    extension = f"转{one_by_one(found['x'])}" if found["x"] else ""
    return one_by_one(found["a"]) + one_by_one(re.sub(r"\D", "", found["n"])) + extension


@rule("phone", r"(?P<a>0\d{2,3})-(?P<n>\d{5,8})(?!\d)")
def short_landline(found: re.Match[str], _: Place) -> str | None:
    """010-12345, 0551-12345678."""
    return one_by_one(found["a"]) + one_by_one(found["n"])


@rule("phone", r"(?P<n>[48]00[- ]?(?:\d{3}[- ]?\d{4}|\d{4}[- ]?\d{3}))(?!\d)")
def free_phone(found: re.Match[str], place: Place) -> str | None:
    """400-820-8820."""
    digits = re.sub(r"\D", "", found["n"])
    return None if digits == found["n"] and _COUNTABLE.match(place.after) else one_by_one(digits)


@rule("phone", r"(?P<n>\d{3,12})(?:(?P<ext>[-转])(?P<x>\d{1,4}))?(?![\d.,:：/%])(?![-~]\d)")
def phone_by_context(found: re.Match[str], place: Place) -> str | None:
    """12345热线, 拨打110, 号码12345: known by the words around it."""
    digits = found["n"]
    if _COUNTABLE.match(place.after):
        return None
    known = digits in _KNOWN_HOTLINES and not _SUM_BEFORE.search(place.before)
    itself = known and len(digits) > len("110") and digits != "10000"  # known whatever stands around it
    short_service = len(digits) in {5, 6} and digits.startswith(("10", "11", "12", "95", "96"))
    near = bool(_PHONE_BEFORE.search(place.before)) or place.listed == "phone"
    after = bool(_PHONE_AFTER.match(place.after))
    if near or itself or (after and (known or short_service)):
        return one_by_one(digits) + (f"转{one_by_one(found['x'])}" if found["x"] else "")
    return None


@rule("phone", r"(?P<n>[2-8]\d{3}-\d{4})(?!\d)")
def local_phone(found: re.Match[str], place: Place) -> str | None:
    """8500-0000."""
    if not _PHONE_BEFORE.search(place.before):
        return None
    return one_by_one(found["n"].replace("-", ""))


@rule("plate", rf"(?P<p>[{_PROVINCES}])(?P<a>[A-Z])[·\s.-]?(?P<n>[A-Z0-9]{{4,6}}[警学挂港澳]?)(?![A-Za-z0-9])")
def plate(found: re.Match[str], _: Place) -> str | None:
    """京A12345, 浙A·D12345."""
    return found["p"] + found["a"] + read_digits(found["n"], phone=True)


@rule("train", r"(?P<a>[GDCZTKYLS])(?P<n>\d{1,4})(?:/(?P<m>\d{1,4}))?(?=\s?(?:次|号?列车|动车|高铁))")
def train(found: re.Match[str], _: Place) -> str | None:
    """G1234次."""
    return found["a"] + one_by_one(found["n"]) + (one_by_one(found["m"]) if found["m"] else "")


@rule("room", r"(?P<n>\d{3,5})(?!\d|\.\d)")
def room(found: re.Match[str], place: Place) -> str | None:
    """1203室, 2单元501."""
    if _ROOM_AFTER.match(place.after):
        return one_by_one(found["n"])
    if _ROOM_BEFORE.search(place.before) and not _COUNTABLE.match(place.after) and not re.match("[-~至到]", place.after):
        return one_by_one(found["n"])
    return None


@rule("room", r"(?P<a>\d{3,4})\s?[-~—–至到]\s?(?P<b>\d{3,4})(?=\s?(?:号)?(?:室|房|诊室|教室|病房|包厢|办公室|会议室)(?!\d{0,2}厅))")
def rooms(found: re.Match[str], _: Place) -> str | None:
    """501-503室."""
    return f"{one_by_one(found['a'])}到{one_by_one(found['b'])}"


@rule("bus", r"(?P<n>\d{3,4})(?P<unit>路|路公交)(?![口边灯段])")
def bus(found: re.Match[str], _: Place) -> str | None:
    """108路."""
    return one_by_one(found["n"]) + found["unit"]


@rule("room", r"(?P<parts>\d{1,3}(?:-\d{1,4}){2,4}|\d{1,2}-\d{3,4}(?=\s?[室号房]))(?![\d.%\-])")
def door(found: re.Match[str], _: Place) -> str | None:
    """3-2-501: building, unit, room."""
    return "杠".join(name(part) for part in found["parts"].split("-"))


@rule("name", r"(?P<n>\d{2,40}(?:-\d{1,40}){0,3}[A-Za-z]?)(?![\d.,:：%])")
def by_name(found: re.Match[str], place: Place) -> str | None:
    """卡号 6222…, 验证码 3321, 编号 12-3456."""
    if _COUNTED.match(found["n"] + place.after) or not (_NAMED_BEFORE.search(place.before) or place.listed == "name"):
        return None
    return "杠".join(read_digits(part, phone=True) for part in found["n"].split("-"))


@rule("name", r"[Nn][Oo]\.\s?(?P<n>\d{1,6})(?!\d)")
def numbered(found: re.Match[str], place: Place) -> str | None:
    """No.5窗口."""
    return name(found["n"]) + ("" if place.after.startswith("号") else "号")


@rule("name", r"(?P<n>\d{17}[\dXx]|\d{7,64})(?![\d.,/])(?![-~]\d)")
def long_run(found: re.Match[str], place: Place) -> str | None:
    """Seven digits and more without a unit name something."""
    return None if len(found["n"]) <= _LONGEST_SUM and _COUNTABLE.match(place.after) else one_by_one(found["n"])


@rule("name", r"(?P<n>\d{1,3}(?:\.\d{1,3}){2,5})(?![\d])")
def version(found: re.Match[str], _: Place) -> str | None:
    """2.0.1, 192.168.1.1."""
    return "点".join(one_by_one(part) for part in found["n"].split("."))


@rule(
    "name", r"(?P<a>[A-Za-z]{1,12})(?P<dash>[-·\s]?)(?P<n>\d{1,40})(?P<rest>(?:[A-Za-z-]{1,6}\d{1,10}){0,3}[A-Za-z]{0,3})(?!\.?\d)"
)
def letters_digits(found: re.Match[str], _: Place) -> str | None:
    """GD20261201003, CA1234, A-1, K12, B2, A12-3."""
    letters, digits = found["a"], found["n"]
    if found["dash"].isspace() and name(digits) == number(digits):
        return None
    dash = "杠" if found["dash"] == "-" and len(letters) < _WORD else ""
    rest = re.sub(r"\d+", lambda run: name(run[0]), found["rest"]).replace("-", "杠")
    return letters + dash + name(digits) + rest


RULES: tuple[Rule, ...] = (
    placeholder, mail, link, domain, document, court_case, mobile_abroad, mobile, masked_digits, landline, short_landline,
    free_phone, plate, train, local_phone, phone_by_context, rooms, room, bus, door, by_name, numbered, version, long_run,
    letters_digits,
)  # fmt: skip
