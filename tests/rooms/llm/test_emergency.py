"""Emergencies are told from the words alone, at once; ordinary business in the same words isn't one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.emergency import INSTRUCTIONS, Emergency, EmergencyKind, EmergencyRule
from llm.privacy import CallMasker

RULE = EmergencyRule()
SAID = {
    EmergencyKind.SELF_HARM: [
        "我要从你们楼上跳下去",
        "我就吊死在你们单位门口",
        "I want to kill myself",
        "我准备了安眠药",
        "我攒了一百片安眠药",
        "我要死在你们门口",
        "我死给你们看",
        "I don't want to live anymore",
        "不想活了",
        "药我都准备好了就在桌上",
        "站在楼顶给你们打个电话",
        "活着没意思，孩子托给你们了",
        "替朋友问，吃多少片会死",
        "不 想 活 了",
        "不想活啦",
        "唔想活喇",
        "想轻身",
        "輕生",
        "我要自 殺",
        "不想活\u200b了",
        "有人要跳楼",
        "他要跳桥",
        "我妈喝农药了",
        "我不想活了你们别管我",
        "活不下去了",
        "我现在就在桥上，想跳下去",
        "我朋友在群里发遗书",
        "我想自杀",
        "死了算了",
        "不如死了算了",
        "我割了手腕",
        "我真的撑不下去了想结束这一切",
    ],
    EmergencyKind.FIRE: [
        "Help me, there's a fire!",
        "屋里有烟",
        "屋子里全是浓烟",
        "电线断了掉在路上有火花",
        "高压线掉在地上了",
        "插座冒火花",
        "厨房有一股烧焦味",
        "我家着火了",
        "隔壁起火了快来人",
        "厨房烧起来了",
        "电瓶车在楼道里冒烟",
        "着火拉",
        "着火了怎么办啊",
        "家里着火了，灭火器不管用",
        "山上着火了",
        "对面楼着大火了",
        "车着火了人还在里面",
        "着火啦快来人",
    ],
    EmergencyKind.CRIME: [
        "邻居打我家孩子",
        "家暴",
        "老公打我",
        "快来人救命",
        "老人走失了",
        "孩子丢了",
        "我奶奶走失了",
        "help! help!",
        "I've been robbed",
        "call the police",
        "赶紧报警",
        "楼下有人打架拿着刀",
        "有人抢劫",
        "有人撬我家门",
        "小偷在我家里",
        "有人跟踪我",
        "救命啊",
        "我被绑架了",
        "孩子走丢了找不到",
        "我老公又打我了，我躲在厕所里",
        "他拿刀威胁我",
        "有炸弹",
        "学校门口有人砍人",
        "有人在强奸",
        "我被人打了头破血流",
        "他们正在砸我家门",
    ],
    EmergencyKind.MEDICAL: [
        "我女儿吞了一颗纽扣电池",
        "帮我打幺二零",
        "孩子误食老鼠药",
        "食物中毒",
        "流血不止",
        "我被狗咬了流血了",
        "孩子发烧四十度抽搐",
        "孩子发烧四十度",
        "孩子喝了农药",
        "三岁娃把洗衣液当果汁喝了",
        "我不小心喝了消毒水",
        "call an ambulance",
        "我爸突然晕倒了没有呼吸",
        "我妈心脏病犯了",
        "老人摔倒了动不了",
        "误喝了消毒液",
        "孩子噎住了脸都紫了",
        "我老婆羊水破了",
        "有个人躺在路边没反应",
        "爷爷抽搐口吐白沫",
        "流了一地的血",
        "触电了",
        "我感觉喘不过气胸口疼",
        "被狗咬了流了好多血",
        "我快不行了",
        "肚子疼得受不了，帮我叫个救护车",
    ],
    EmergencyKind.RESCUE: [
        "我们几个人卡在电梯里",
        "停电了电梯里有人",
        "电梯困人",
        "地震了",
        "刚才地震了房子在晃",
        "I'm trapped",
        "孩子掉河里了",
        "我被困在电梯里了",
        "楼塌了下面埋了人",
        "有人溺水了",
        "电梯把老人困住了",
        "房子要塌了",
    ],
    EmergencyKind.GAS: [
        "一氧化碳报警器响了",
        "闻到臭鸡蛋味",
        "闻到煤气味",
        "gas leak in my kitchen",
        "燃气灶打不着火闻到煤气味",
        "煤气漏了好大味道",
        "家里闻到一股煤气味",
        "我家有煤气味",
        "煤气味好大谁来管管",
        "楼道煤气味的问题越来越重，找谁",
        "现在厨房都是煤气味，这种事找谁",
        "家里煤气中毒两个人倒了",
        "天然气泄露了",
        "没气泄漏了",
    ],
    EmergencyKind.TRAFFIC: [
        "出车祸了有人受伤",
        "前面撞了人",
        "被车撞了起不来",
        "高速上追尾了车里有人",
        "外卖员被撞飞了",
    ],
    EmergencyKind.THREAT: [
        "I am going to kill you",
        "我要炸了你们",
        "我要把你们单位炸了",
        "我要杀了你们",
        "我想去杀人",
    ],
}
ORDINARY = [
    "How to report a fire hazard",
    "what's the ambulance fee",
    "老人丢了老年证",
    "邻居打我家墙",
    "离婚家暴证据有哪些",
    "燃气灶打不着火",
    "打火机打不着火",
    "车打不着火",
    "天然气灶点不着火",
    "孩子身份证丢了",
    "我妈社保卡丢了",
    "爸爸的手机不见了",
    "电梯里有人抽烟",
    "楼道里有人抽烟",
    "被狗咬了打血清报销吗",
    "河里有臭鸡蛋味",
    "家里有烟花能放吗",
    "How do I apply for a fire safety permit",
    "can you help me with my residence permit",
    "老人走失手环怎么领",
    "地震局电话",
    "反家暴法什么时候实施",
    "我要去砍价",
    "消防通道被占",
    "着火了怎么赔偿去年的事",
    "煤气费怎么交",
    "煤气味的事情谁管",
    "楼道煤气味的问题找哪个部门",
    "着火的事归谁管",
    "电梯困人的事情一般谁负责",
    "下班路上被电瓶车撞了能算工伤不",
    "车祸算不算工伤",
    "救护车收费标准",
    "想死的手机怎么修",
    "热死我了",
    "笑死",
    "这个政策要人命",
    "电脑死机",
    "消防栓坏了",
    "楼道堆杂物有火灾隐患",
    "工厂冒黑烟",
    "烧烤店油烟太大",
    "燃气安检什么时候来",
    "天然气怎么开户",
    "煤气罐在哪里换",
    "去年我被车撞了赔偿怎么算",
    "交通事故责任认定书什么时候出",
    "车祸后遗症能报销吗",
    "打我电话没人接",
    "请打我手机",
    "他们打人怎么处罚",
    "家暴怎么申请保护令",
    "举报有人卖毒品",
    "被困扰很久了",
    "有困难申请低保",
    "电动车被偷了怎么办",
    "跳楼价大甩卖是不是虚假宣传",
    "救命钱被骗了",
    "医保报销心脏支架吗",
    "120收费多少",
    "那我应该打幺幺零还是打幺二零",
    "心梗报销比例",
    "自杀身亡保险赔不赔",
    "安眠药在哪里能买到",
    "安眠药医保报销吗",
    "楼顶漏水",
    "邻居在楼顶违建",
    "中风后遗症残疾证怎么办",
    "火灾后房屋鉴定找谁",
    "煤气改造什么时候开始",
    "小区电梯经常困人投诉物业",
    "电梯坏了",
    "停水三天了",
    "洪水补贴怎么领",
    "疫苗在哪打",
    "路灯坏了",
    "消防演练冒烟",
    "上火了",
    "抢票",
    "抢不到号",
    "火车票",
    "着急死了",
    "投诉医院把我爸治死了",
    "我爸去世了怎么销户",
    "死亡证明怎么开",
    "孩子上学",
    "孩子丢了身份证怎么补",
    "手机丢了",
    "身份证丢了",
    "钱包被抢怎么报案回执",
    "我要举报赌博",
    "路面塌陷很久没人修",
    "工地打桩吵死了",
    "井盖坏了怕掉进去",
    "楼上漏水",
    "垃圾焚烧冒烟有味道",
    "秸秆焚烧",
    "生意做不下去了",
    "日子过不下去了",
    "他撞了我的车跑了去年的事",
    "河水发臭",
    "水费太贵",
    "低保停了我怎么活",
    "想问下打疫苗昏倒过能打吗",
    "火葬场电话",
    "消防证怎么办",
    "燃气热水器漏水",
    "燃气公司电话",
    "燃气表没电",
    "气味很大，化工厂排放",
    "动火作业审批",
    "爆炸物品许可证",
    "救护车占了消防通道",
    "打架斗殴判几年",
    "杀人罪判几年",
    "车被撞了找谁",
    "护栏被撞坏了",
    "我想反映出租车追尾了没人管责任怎么认定",
    "血压高慢病证怎么办",
    "喘息性支气管炎能办慢病吗",
    "去世补贴",
    "殡葬",
    "跟踪件怎么查",
    "我的工单跟踪到哪了",
    "水管爆了",
    "暖气爆裂",
    "网络卡死了",
    "办事的人态度差气死我了",
    "气得我心脏疼",
    "杀虫剂过敏怎么投诉",
    "楼下饭店着火后留下的味道",
    "困难补助",
    "大火锅店",
    "我要跳槽",
    "跳广场舞太吵",
    "刀削面馆卫生",
    "菜刀能带上地铁吗",
    "坐高铁能带刀吗",
]
PRESENT_WINS = [
    "去年也着过火，现在又着火了",
    "我不问赔偿，救救我，他正在打我",
    "公司仓库着火了",
    "饭店着火了",
    "装修材料着火了",
    "他昨天打我，今天又来打我了",
    "垃圾桶着火了，消防通道堵着",
]


def check(words: str) -> Emergency | None:
    return RULE.check(CallMasker(mask_budget_ms=60_000).mask(words))


@pytest.mark.parametrize(("kind", "words"), [(kind, words) for kind, all_words in SAID.items() for words in all_words])
def test_an_emergency_is_heard(kind: EmergencyKind, words: str) -> None:
    found = check(words)
    assert found is not None
    assert (found.kind, found.instruction) == (kind, INSTRUCTIONS[kind])


def test_poison_that_was_meant_is_no_accident() -> None:
    found = check("我不想活了，把农药当水喝了")
    assert found is not None
    assert found.kind is EmergencyKind.SELF_HARM


@pytest.mark.parametrize("words", PRESENT_WINS)
def test_what_happens_now_beats_what_it_is_also_about(words: str) -> None:
    assert check(words) is not None


@pytest.mark.parametrize("words", ORDINARY)
def test_ordinary_business_is_no_emergency(words: str) -> None:
    assert check(words) is None


@pytest.mark.parametrize("kind", EmergencyKind)
def test_the_instruction_is_short_and_names_a_number(kind: EmergencyKind) -> None:
    words = INSTRUCTIONS[kind]
    assert len(words) <= 60
    assert any(number in words for number in ("110", "119", "120"))


def test_silence_and_placeholders_are_no_emergency() -> None:
    assert check("") is None
    assert check(" 。") is None
    assert check("13900005678") is None


@given(st.text(max_size=200))
def test_it_never_raises(words: str) -> None:
    check(words)


@given(st.sampled_from(["不想活", "煤气", "打我", "着火去年", "a ", "救护车收费"]))
def test_hostile_repetition_ends(piece: str) -> None:
    check((piece * 2000)[:2000])
