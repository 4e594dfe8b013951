"""What a caller dictates never gets past the masker: turns as they come from the recogniser, masked."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotline.zh.numerals import DIGIT_OF
from llm.privacy import CallMasker, join_masked, kind_asked, mask_phone_number
from llm.privacy_items import Item
from llm.types import MaskedText, Personal

PLENTY_MS = 60_000.0  # these are about what is masked, not how fast
PLACEHOLDER = re.compile(r"〈[^〈〉]*〉")


def masked(raw: str, *, asked_for: Personal | None = None) -> MaskedText:
    return CallMasker(mask_budget_ms=PLENTY_MS).mask(raw, asked_for=asked_for)


def call(*turns: str, asked_for: Personal | None = None) -> list[str]:
    """One call; the question asked_for stands before its first turn."""
    masker = CallMasker(mask_budget_ms=PLENTY_MS)
    asked = itertools.chain([asked_for], itertools.repeat(None))
    return [masker.mask(turn, asked_for=kind).text for turn, kind in zip(turns, asked, strict=False)]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("我手机号是一五九幺二三四五六七八", "我手机号是〈手机号·1〉"),
        ("打这个吧 幺三三 八八八八 六六六六", "打这个吧 〈手机号·1〉"),
        ("一三七 三个八 一二三四五", "〈手机号·1〉"),
        ("幺三九四个零五六七八", "〈手机号·1〉"),
        ("你记一下啊一八六然后零零一二然后三四五六", "你记一下啊〈手机号·1〉"),
        ("电话一三九，嗯，零零零零，嗯，一二三四", "电话〈手机号·1〉"),
        ("我电话一三九后面四个零然后五六七八", "我电话〈手机号·1〉"),
        ("我電話是一三八零零一三八零零零", "我電話是〈手机号·1〉"),
        ("我的电话是138零零幺三8000", "我的电话是〈手机号·1〉"),
        ("壹叁捌零零壹叁捌零零零", "〈手机号·1〉"),
        ("１３８００１３８０００", "〈手机号·1〉"),
        ("138－0013－8000", "〈手机号·1〉"),
        ("138\u200b0013\u200b8000", "〈手机号·1〉"),
        ("1 3 8 0 0 1 3 8 0 0 0", "〈手机号·1〉"),
        ("one three eight 0013 8000", "〈手机号·1〉"),
        ("one three nine triple zero zero five six seven eight", "〈手机号·1〉"),
        ("我电话是腰三八零零灵灵一二三四", "我电话是〈手机号·1〉"),
        ("我家电话八七六五四三二一转八零一", "我家电话〈座机号·1〉"),
        ("车架号LSVAA4187E2123456", "车架号〈号码·1〉"),
        ("合同编号HT20230001", "合同编号〈号码·1〉"),
        ("座机八七六五四三二一", "座机〈座机号·1〉"),
        ("座机零二七八七六五四三二一转二零三", "座机〈座机号·1〉转〈号码·1〉"),
        ("电话是0571-85000012转803", "电话是〈座机号·1〉转〈号码·1〉"),
        ("分机号八零二", "分机号〈号码·1〉"),
        ("工号零三七的那个接线员态度不好", "工号〈号码·1〉的那个接线员态度不好"),
        ("你们幺零二三号话务员挂我电话", "你们〈号码·1〉号话务员挂我电话"),
        ("警号是零一二三四五", "警号是〈号码·1〉"),
        ("我的号码是一百三十九零零零零五六七八", "我的号码是〈手机号·1〉"),
        ("打一百五十八，零零零零，一二三四", "打〈手机号·1〉"),
        ("一百八十零零零零一二三四", "〈手机号·1〉"),
        ("我QQ一二三四五六七八", "我QQ〈QQ号·1〉"),
        ("区号零二七，八七六五四三二一", "区号〈座机号·1〉"),
        ("手机幺三八零零零零一二三四，备用的一三九零零零零五六七八", "手机〈手机号·1〉，备用的〈手机号·2〉"),
        ("是13900005678，对，13900005678", "是〈手机号·1〉，对，〈手机号·1〉"),
        (
            "把手机号幺三九零零零零五六七八和身份证幺幺零幺零幺幺九八五零三零七零零零五登记上",
            "把手机号〈手机号·1〉和身份证〈身份证号·1〉登记上",
        ),
        ("我身份证是四二零一零六，一九九九零一零一，零零四叉", "我身份证是〈身份证号·1〉"),
        ("尾巴是叉的那个，四二零一零六一九九九零一零一零零四大写艾克斯", "尾巴是叉的那个，〈身份证号·1〉"),
        ("身份证后四位是二三四六", "身份证后四位是〈身份证号·1〉"),
        ("银行卡尾号八八六六那张", "银行卡尾号〈银行卡号·1〉那张"),
        ("我那个卡6219 9980 0700 6543 218被冻结了", "我那个卡〈银行卡号·1〉被冻结了"),
        ("护照号码是G一二三四五六七八", "护照号码是〈护照号·1〉"),
        ("信用代码九一四二零一零零MA零零X零零Y零E", "信用代码〈信用代码·1〉"),
        ("验证码是三五七九一二", "验证码是〈号码·1〉"),
        ("我的工单号是20230501000123", "我的工单号是〈号码·1〉"),
        ("一二三四五六七八九", "〈号码·1〉"),
        ("13900005678元旦打给我", "〈手机号·1〉元旦打给我"),
        ("我的车牌是鄂A幺二三四五", "我的车牌是〈车牌号·1〉"),
        ("沪AD12345被拖走了", "〈车牌号·1〉被拖走了"),
        ("粤 B 零八 八八九被贴条", "〈车牌号·1〉被贴条"),
        ("车牌号是饿A八八八六六", "车牌号是〈车牌号·1〉"),
        ("粤Z12345港的车，鄂A12345学", "〈车牌号·1〉的车，〈车牌号·2〉"),
        ("尾巴是ex的，四二零一零六一九九九零一零一零零四ex", "尾巴是ex的，〈身份证号·1〉"),
        ("电话13900005678，三个人", "电话〈手机号·1〉，三个人"),
        ("1 3 9 0 0 0 0 5 6 7 8 9", "〈手机号·1〉 〈号码·1〉"),
        ("邮箱a@b@qq.com", "邮箱〈邮箱·1〉〈邮箱·2〉"),
        ("a艾特b at qq点com", "〈邮箱·1〉"),
        ("邮箱是 zhang san 艾特 一六三 点 com", "邮箱是 〈邮箱·1〉"),
        ("call me at 139 0000 5678 or david at example dot org", "call me at 〈手机号·1〉 or 〈邮箱·1〉"),
        ("a b c at gmail dot com", "〈邮箱·1〉"),
        ("我的邮箱是linke下划线八八圈a一二六点com", "我的邮箱是〈邮箱·1〉"),
        ("我邮箱lin.ke@example.com.cn你发我", "我邮箱〈邮箱·1〉你发我"),
        ("邮箱abc一六三点com", "邮箱〈邮箱·1〉"),
        ("发到abc@内网", "发到〈邮箱·1〉内网"),
        ("我微信是小写的a b c 一二三四", "我微信是小写的〈微信号·1〉"),
        ("前四位是六二一七", "前四位是〈号码·1〉"),
        ("微信号是lin_ke88", "微信号是〈微信号·1〉"),
        ("加我微信幺三九零零零零五六七八", "加我微信〈手机号·1〉"),
        ("QQ是八八六六四四二二一", "QQ是〈QQ号·1〉"),
        ("QQ号12345", "QQ号〈QQ号·1〉"),
        ("我微信号是12345", "我微信号是〈微信号·1〉"),
        ("我一九八五年三月七号出生", "我〈出生日期·1〉出生"),
        ("出生日期一九八五零三零七", "出生日期〈出生日期·1〉"),
        ("1962-11-19出生", "〈出生日期·1〉出生"),
    ],
)
def test_numbers_in_every_form_are_masked(raw: str, text: str) -> None:
    assert masked(raw).text == text


@pytest.mark.parametrize(
    "raw",
    [
        "那我应该打幺幺零还是打幺二零",
        "我打的是110，后来又打了12345，嗯，95588",
        "12315和12345哪个管",
        "96110给我打电话说我被诈骗",
        "电话号码是一零零八六",
        "国发〔2023〕5号文件是怎么说的",
        "鄂政办发2023 15号文",
        "民法典第一千零六十二条",
        "第1、2、3、4、5、6、7条都看了",
        "我排到1050号",
        "第286号",
        "补贴一共是一百二十三万四千五百元",
        "他欠我1250000元没给",
        "注册资本10,000,000元",
        "我微信转了2000给他",
        "手机上花了三千五百块",
        "手机是5000块买的",
        "有12000人参加",
        "2023-05-01之前办的",
        "2023/05/01之前办的",
        "二零二三年五月一号办的",
        "2020年5月1号生效",
        "他二零零零年一月一日发生的事",
        "身份证有效期到2025年",
        "2019、2020、2021、2022年的",
        "住在十八楼",
        "坐D2345次还是G7501、G7503次",
        "从光谷广场坐五八五路到武昌火车站怎么走",
        "中午十二点到一点半上班吗",
        "08:30-17:00",
        "我等了2个小时15分钟",
        "交了十五年零三个月",
        "电话打不通打了三四次了",
        "3.5%的利率10.25万",
        "尾号一三五七九限行",
        "每平米12000",
        "张江高科地铁站几点末班车",
        "川A开头的车限行吗",
        "三天两头停水，一共三百二十六户",
        "五幢幺零幺漏水了",
    ],
)
def test_what_is_nobodys_stays(raw: str) -> None:
    assert masked(raw) == MaskedText(text=raw)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("我叫王小明，住在青山区和平大道八百号三栋二单元五零二", "我叫〈姓名·1〉，住在〈地址·1〉"),
        ("我是林可手机13900005678住滨江区江虹路18号2幢401。", "我是〈姓名·1〉手机〈手机号·1〉住〈地址·1〉。"),
        ("我是李强我要投诉物业", "我是〈姓名·1〉我要投诉物业"),
        ("我是张伟的妈妈", "我是〈姓名·1〉的妈妈"),
        ("罗小满电话幺八九零零零零五五二三，高新区电话四零零八一二三一二三", "〈姓名·1〉电话〈手机号·1〉，高新区电话〈座机号·1〉"),
        ("我叫张雪琴，不是琴，是张雪晴，晴天的晴", "我叫〈姓名·1〉，不是琴，是〈姓名·2〉，〈姓名写法·1〉"),
        ("免贵姓陈，耳东陈", "免贵姓〈姓名·1〉，〈姓名写法·1〉"),
        ("负责人是王经理", "负责人是〈姓名·1〉经理"),
        ("我姓诸葛", "我姓〈姓名·1〉"),
        ("户口本上的名字叫做欧阳娜娜", "户口本上的名字叫做〈姓名·1〉"),
        ("您好，司马先生让我打的，王师傅也在", "您好，〈姓名·1〉先生让我打的，〈姓名·2〉师傅也在"),
        ("我家万达公寓十二楼一二零三", "我家〈地址·1〉"),
        ("房东姓钱", "房东姓〈姓名·1〉"),
        ("我姐夫高强", "我姐夫〈姓名·1〉"),
        ("班主任徐丽老师", "班主任〈姓名·1〉老师"),
        ("邵一鸣，幺三九零零零零五六七八", "〈姓名·1〉，〈手机号·1〉"),
        ("我妈妈王秀英今年八十了", "我妈妈〈姓名·1〉今年八十了"),
        ("我爱人张晓梅电话幺三三零零零零四四五五", "我爱人〈姓名·1〉电话〈手机号·1〉"),
        ("投诉张伟医生", "投诉〈姓名·1〉医生"),
        ("曹雪梅女士你好", "〈姓名·1〉女士你好"),
        ("邻居老王天天吵", "邻居老〈姓名·1〉天天吵"),
        ("小张接的电话", "小〈姓名·1〉接的电话"),
        ("林可，双木林", "〈姓名·1〉，〈姓名写法·1〉"),
        ("我叫阿依古丽", "我叫〈姓名·1〉"),
        ("孩子叫扎西多吉，今年上学", "孩子叫〈姓名·1〉，今年上学"),
        ("跟高老师说，提高老师待遇", "跟〈姓名·1〉老师说，提高老师待遇"),
        ("我家住银杏小区12-3-401", "我家住〈地址·1〉"),
        ("江岸区解放大道一零二四号", "〈地址·1〉"),
        ("人民路18号门口井盖丢了", "〈地址·1〉门口井盖丢了"),
        ("朝阳区望花路八号院十六号楼地下一层，没有电梯", "〈地址·1〉，没有电梯"),
        ("江虹路十八号银杏小区二幢四零一", "〈地址·1〉"),
        ("我们小区三号楼二单元电梯坏了", "我们〈地址·1〉电梯坏了"),
    ],
)
def test_names_and_houses_are_masked(raw: str, text: str) -> None:
    assert masked(raw).text == text


@pytest.mark.parametrize(
    "raw",
    [
        "我是社区工作人员",
        "我是高新区的居民",
        "我是程序员",
        "我是黄石市的",
        "我是方便面厂的",
        "我是关于社保的问题",
        "我叫一下你们领导",
        "叫什么来着",
        "我叫安全帽",
        "姓什么",
        "老百姓的事",
        "这个不姓欧",
        "3号楼电梯坏了",
        "办事大厅二楼3号窗口",
        "第一人民医院3号楼怎么走",
        "光谷三路和高新大道路口",
        "二号线转四号线",
        "五号",
        "晴天的时候",
        "粤Z1234开头",
        "@qq.com",
        "look at me",
        "  @ 这个符号",
        "微信是是是是是是是是是",
        "微信小程序，微信abc",
        *(
            "我妈妈谢谢你",
            "我儿子高考",
            "我爱人安排好了",
            "孩子周岁了",
            "老赖不还钱",
            "找任课老师",
            "小程序在哪",
            "我叫救护车",
            "本人和配偶都能提",
        ),
        *("我妈妈方便吗", "孩子张口就要钱", "司机马上到", "学校管教老师", "老黄历", "小高层怎么交物业费"),
    ],
)
def test_plain_words_are_no_names_and_no_houses(raw: str) -> None:
    assert masked(raw).text == raw


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("我的电话是 13912345678 你记一下", "我的电话是 〈手机号·1〉 你记一下"),
        ("13912345678一起说", "〈手机号·1〉一起说"),
        ("13912345678三点以后打", "〈手机号·1〉三点以后打"),
        ("幺三九一二三四五六七八一会儿打", "〈手机号·1〉一会儿打"),
        ("❶❸❾⓵⓶⓷④⑤⑥⑦⑧", "〈手机号·1〉"),
        ("1一起", "1一起"),
        ("就一下", "就一下"),
    ],
)
def test_a_numeral_in_a_word_is_no_part_of_a_whole_number(raw: str, text: str) -> None:
    assert CallMasker(mask_budget_ms=60_000).mask(raw).text == text


@pytest.mark.parametrize("between", ["/", "／", "|", "｜", ";", "；", "\\", "*", "＊", "·", "_", "~", " / ", " * "])
def test_whatever_stands_between_its_digits_a_number_is_one(between: str) -> None:
    assert masked(f"我电话139{between}1234{between}5678").text == "我电话〈手机号·1〉"
    assert masked(f"139{between}1234{between}5678").text == "〈手机号·1〉"


def test_a_numeral_in_a_word_is_no_part_of_the_rest_of_a_number() -> None:
    masker = CallMasker(mask_budget_ms=60_000)
    masker.mask("我的手机号是139")
    assert masker.mask("12345678你记一下").text == "〈手机号·1〉你记一下"


def test_a_number_goes_on_over_turns() -> None:
    assert call("幺三九", "零零零零", "嗯，等一下", "五六七八", asked_for=Personal.MOBILE) == [
        "〈手机号·1〉",
        "〈手机号·1〉",
        "嗯，等一下",
        "〈手机号·1〉",
    ]


@pytest.mark.parametrize(
    "turns",
    [
        ("我的手机号是幺三九", "零零零零", "五六七八"),
        ("我的手机号是一三九", "零零零零", "五六七八"),
        ("我手机号是", "一三九", "零零零零", "五六七八"),
        ("我的电话号码是。", "一三", "九零零", "零零五六", "七八"),
        ("手机一三九", "零零", "零零", "五六", "七八"),
        ("我的手机号前面是一三九", "然后零零零零", "最后五六七八"),
        ("身份证号是三三零幺零六", "幺九六二幺幺幺九", "零零五X"),
        ("身份证号是三三零", "一零六", "一九六二", "一一一九", "零零五叉"),
        ("银行卡号是六二一", "七零零", "一二三四", "五六七八"),
        ("家里座机是零五七一", "八八零零", "一二三四"),
        ("护照号是", "E一二", "三四五六七八"),
        ("我的手机号是幺三九", "零零零零", "五六七", "八九"),
    ],
)
def test_a_number_announced_stays_masked_turn_by_turn_until_it_is_whole(turns: tuple[str, ...]) -> None:
    left = PLACEHOLDER.sub("", "".join(call(*turns)))
    assert not set(left) & set("零一二三四五六七八九幺0123456789X叉")


@pytest.mark.parametrize(
    "turns",
    [
        ("我的手机号是多少", "二"),
        ("身份证", "二"),
        ("身份证丢了", "第一个"),
        ("手机号是三年前办的", "一"),
        ("居住证怎么办", "三"),
        ("我的手机号是", "算了", "补贴两百块", "三年"),
        ("电话是三个", "两个"),
    ],
)
def test_a_number_that_nobody_announced_is_no_number(turns: tuple[str, ...]) -> None:
    assert call(*turns) == list(turns)


def test_an_announced_number_is_one_number() -> None:
    assert call("我的手机号是幺三九", "零零零零", "五六七八", "13900005678") == ["我的手机号是〈手机号·1〉", *["〈手机号·1〉"] * 3]
    assert call("电话13900000000", "我身份证号是", "三三零")[2] == "〈身份证号·1〉"


def test_an_x_may_come_late() -> None:
    assert call("我身份证四二零一零六一九九九零一零一零零四", "最后一位是叉", "画个叉") == [
        "我身份证〈身份证号·1〉",
        "最后一位是〈身份证号·1〉",
        "画个叉",
    ]
    assert call("我身份证四二零一零六一九九九零一", "叉")[1] == "叉"
    assert call("叉") == ["叉"]


def test_the_publics_numbers_stay_while_a_number_is_open() -> None:
    assert call("我手机幺三九零零", "要不我打12345吧")[1] == "要不我打12345吧"


def test_it_is_complete_only_with_its_last_digit() -> None:
    masker = CallMasker(mask_budget_ms=PLENTY_MS)
    first = masker.mask("幺三九零零", asked_for=Personal.MOBILE)
    then = masker.mask("零零五六七八")
    assert [span.complete for span in (*first.spans, *then.spans)] == [False, True]


def test_a_dictated_start_becomes_what_the_whole_is() -> None:
    assert call("幺三九零零", "零零五六七八") == ["〈号码·1〉", "〈手机号·1〉"]


def test_a_whole_number_said_again_closes_the_open_one() -> None:
    assert call("我手机幺三九零零", "算了，是幺三九零零零零五六七八", "三个一百") == [
        "我手机〈手机号·1〉",
        "算了，是〈手机号·2〉",
        "三个一百",
    ]


def test_too_many_digits_are_another_number() -> None:
    assert call("我手机幺三九零零零零五六", "一二三四五") == ["我手机〈手机号·1〉", "〈号码·1〉"]


def test_an_open_number_is_forgotten_after_a_while() -> None:
    assert call("我手机幺三九零零", "等一下", "我找找", "在哪呢", "二三四") == [
        "我手机〈手机号·1〉",
        "等一下",
        "我找找",
        "在哪呢",
        "二三四",
    ]


def test_an_open_number_is_not_a_reason_to_mask_a_price() -> None:
    assert call("我手机幺三九零零", "那个补贴两千块还有吗，二零块也行")[1] == "那个补贴两千块还有吗，二零块也行"


def test_a_tail_put_right_is_masked() -> None:
    assert masked("我电话幺三九零零零零五六七九不对是五六七八结尾").text == "我电话〈手机号·1〉不对是〈手机号·2〉"
    assert call("我电话幺三九零零零零五六七九", "不对，最后应该是五六七八") == [
        "我电话〈手机号·1〉",
        "不对，最后应该是〈手机号·2〉",
    ]
    assert call("我电话幺三九零零零零五六七八", "不对，该打12345") == ["我电话〈手机号·1〉", "不对，该打12345"]


def test_the_corrected_number_said_in_full_has_the_same_placeholder() -> None:
    assert call("电话13900005679", "错了，是五六七八", "13900005678") == [
        "电话〈手机号·1〉",
        "错了，是〈手机号·2〉",
        "〈手机号·2〉",
    ]


def test_the_question_is_the_context() -> None:
    assert call("一三九零", asked_for=Personal.MOBILE) == ["〈手机号·1〉"]
    assert call("12345", asked_for=Personal.MOBILE) == ["〈手机号·1〉"]
    assert call("我说过了打12345", asked_for=Personal.MOBILE) == ["我说过了打12345"]
    assert call("周明远", asked_for=Personal.NAME) == ["〈姓名·1〉"]
    assert call("李", asked_for=Personal.NAME) == ["〈姓名·1〉"]
    assert call("江虹路十八号", asked_for=Personal.ADDRESS) == ["〈地址·1〉"]
    assert call("五零一", asked_for=Personal.ADDRESS) == ["〈地址·1〉"]
    assert call("等一下", asked_for=Personal.ADDRESS) == ["等一下"]
    assert call("六二年十一月十九号", asked_for=Personal.BIRTH_DATE) == ["〈出生日期·1〉"]


def test_wrong_numbers_are_masked_and_told() -> None:
    turn = masked("身份证幺幺零幺零幺幺九八五零三零七零零零六")
    assert turn.text == "身份证〈身份证号·1〉"
    assert not turn.spans[0].complete


@pytest.mark.parametrize(
    ("raw", "complete"),
    [
        ("手机13900005678", True),
        ("手机23900005678", False),
        ("座机88001234", True),
        ("银行卡6219998007006543218", True),
        ("银行卡6219998007006543217", False),
        ("银行卡7219998007006543218", False),
        ("身份证11010119850307000X", False),
        ("身份证110101198513070005", False),
        ("护照E00001234", True),
        ("QQ号100023456", True),
        ("准考证123456789", False),
    ],
)
def test_complete_means_length_and_check_digit(raw: str, complete: bool) -> None:
    assert [span.complete for span in masked(raw).spans] == [complete]


def test_spans_point_to_both_texts() -> None:
    raw = "喂，我手机幺三九 零零零零 五六七八，叫李明"
    turn = masked(raw)
    assert [(turn.text[s.start : s.end], raw[s.raw_start : s.raw_end]) for s in turn.spans] == [
        ("〈手机号·1〉", "幺三九 零零零零 五六七八"),
        ("〈姓名·1〉", "李明"),
    ]


def test_turns_join_as_one_question() -> None:
    masker = CallMasker(mask_budget_ms=PLENTY_MS)
    joined = join_masked([masker.mask("手机13900005678"), masker.mask(""), masker.mask("我叫李明")])
    assert joined.text == "手机〈手机号·1〉，我叫〈姓名·1〉"
    assert [joined.text[s.start : s.end] for s in joined.spans] == ["〈手机号·1〉", "〈姓名·1〉"]
    assert join_masked([]) == MaskedText(text="")


def test_over_budget_the_whole_turn_is_masked() -> None:
    late = iter(range(100))
    turn = CallMasker(mask_budget_ms=20, clock=lambda: float(next(late))).mask("我手机13900005678")
    assert turn.text == "〈内容〉"
    assert [(s.kind, s.raw_start, s.raw_end) for s in turn.spans] == [(Personal.UNSURE, 0, 14)]


@pytest.mark.parametrize("checks", range(2, 7))
def test_the_budget_is_looked_at_between_scanners(checks: int) -> None:
    ticks = itertools.chain([0.0] * checks, itertools.repeat(1.0))
    assert CallMasker(clock=lambda: next(ticks)).mask("我叫李明").text == "〈内容〉"


def test_nobody_says_ten_thousand_characters() -> None:
    assert masked("一" * 10_000).text == "〈内容〉"


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("13912345678", "139****5678"),
        ("+86 139-1234-5678", "139****5678"),
        ("057185000012", "057****0012"),
        ("110", "****"),
        ("anonymous", "****"),
        ("", "****"),
        ("1" * 40, "****"),
        ("１３９１２３４５６７８", "****"),
    ],
)
def test_a_caller_number_is_shown_as_head_and_tail(number: str, shown: str) -> None:
    assert mask_phone_number(number) == shown


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("请报一下您的手机号", Personal.MOBILE),
        ("请说一下您的身份证号", Personal.ID_CARD),
        ("请问怎么称呼您", Personal.NAME),
        ("住在哪个小区", Personal.ADDRESS),
        ("请说一下具体位置", Personal.ADDRESS),
        ("请问还有什么可以帮您", None),
        ("手机号已记下", None),
    ],
)
def test_what_the_bot_asked_for(words: str, kind: Personal | None) -> None:
    assert kind_asked(words) is kind


def test_nothing_raw_shows_in_a_repr() -> None:
    masker = CallMasker(mask_budget_ms=PLENTY_MS)
    masker.mask("电话13900005678")
    assert "13900005678" not in repr(vars(masker))
    assert "13900005678" not in repr(Item(kind=Personal.MOBILE, start=0, end=11, value="13900005678"))


# ---------------------------------------------------------------- properties

FORMS = {d: [f for f, digit in DIGIT_OF.items() if digit == d and f not in "两洞拐勾"] for d in "0123456789"}
FILLERS = ["", "", "", " ", "，", "-", " 呃 ", "那个", "嗯", "然后", "\u200b", "\x00", "。"]
DIGITS = st.text("0123456789", min_size=7, max_size=19)


@st.composite
def dictations(draw: st.DrawFn) -> str:
    """Seven digits or more as people say them, with hesitations."""
    parts = [draw(st.sampled_from(FORMS[d])) + draw(st.sampled_from(FILLERS)) for d in draw(DIGITS)]
    return "".join(parts)


@given(
    before=st.sampled_from(["", "喂你好", "我的是", "号码，", "你记一下啊 "]),
    dictated=dictations(),
    after=st.sampled_from(["", "谢谢", "，好了吧", "。", "你听清楚没"]),
)
def test_no_seven_digits_survive(before: str, dictated: str, after: str) -> None:
    left = PLACEHOLDER.sub("", masked(before + dictated + after).text)
    survived = "".join(DIGIT_OF.get(char, "") for char in left)
    assert len(survived) < 7 or re.fullmatch(r"(?:1[12]\d|12\d{3}|9[56]\d{3,4}|100\d\d)+", survived)


@given(st.text(max_size=300), st.sampled_from([None, *Personal]))
def test_it_never_raises(raw: str, asked_for: Personal | None) -> None:
    turn = masked(raw, asked_for=asked_for)
    assert all(turn.text[s.start : s.end] == s.placeholder and s.raw_end <= len(raw) for s in turn.spans)


CHARACTERS = "零一二三五七9013X年月日号元个十百，。 的我是叫李王张住在路村室栋@点"
WORDS = "幺三九 13900005678 四个零 不对 身份证 手机 电话 微信 〈手机号·1〉 先生 小区 com 艾特 京A 出生 然后 尾号 公积金 E abc"
SNIPPETS = st.lists(st.sampled_from([*CHARACTERS, *WORDS.split()]), max_size=24).map("".join)


@given(SNIPPETS, st.sampled_from([None, Personal.MOBILE, Personal.NAME, Personal.ADDRESS]))
def test_it_never_raises_on_callers_words(raw: str, asked_for: Personal | None) -> None:
    masker = CallMasker(mask_budget_ms=PLENTY_MS)
    for turn in (raw, raw[::-1]):
        spans = masker.mask(turn, asked_for=asked_for).spans
        assert all(a.end <= b.start and a.raw_end <= b.raw_start for a, b in itertools.pairwise(spans))


@given(SNIPPETS)
def test_masked_text_masked_again_stays(raw: str) -> None:
    once = masked(raw).text
    assert masked(once).text == once


HOSTILE = [
    "1 ",
    "一三九零",
    "a@",
    "a at ",
    "呃嗯",
    "五幢",
    "我叫王",
    "的",
    "三个八",
    "不对一二三",
    "微信a",
    "元12",
    "十",
    "〈",
    "木子",
    "1-",
    "京A",
]


@given(st.sampled_from(HOSTILE))
def test_hostile_repetition_is_read_whole(piece: str) -> None:
    raw = (piece * 2000)[:2000]
    left = PLACEHOLDER.sub("", masked(raw).text)
    assert not re.search(r"\d{7}", left)
