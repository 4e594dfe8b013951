"""A law table of a few articles in the layout of the real one, and the real one where it is pulled."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from hotline.errors import ModelMissing
from hotline.models import resolve
from llm.laws import LawTable, open_laws

LABOUR = "中华人民共和国劳动合同法"
LAWS = (  # id, name, effective_date, version_date, status
    ("labour", LABOUR, "2008-01-01", "2012-12-28", "现行有效"),
    ("noise", "中华人民共和国噪声污染防治法", "2022-06-05", "2021-12-24", "已废止"),
    ("code", "中华人民共和国生态环境法典", "2026-08-15", "2026-03-12", "现行有效"),
    ("mark-old", "中华人民共和国商标法", "1983-03-01", "2019-04-23", "历史版本"),
    ("mark-new", "中华人民共和国商标法", "2027-01-01", "2026-06-26", "现行有效"),
    ("health", "中华人民共和国医疗保障法", "2027-01-01", "2026-08-28", "现行有效"),
    ("net", "中华人民共和国网络安全法", "2017-06-01", "2025-10-28", "现行有效"),
    ("net-change", "全国人民代表大会常务委员会关于修改《中华人民共和国网络安全法》的决定", "2026-01-01", "2025-10-28", "现行有效"),
    ("crime", "中华人民共和国刑法", "1997-10-01", "2020-12-26", "已被修改"),
    ("lost", "中华人民共和国乡镇企业法", "1997-01-01", "1996-10-29", "已废止"),
)
ARTICLES = (
    ("labour", "第三十七条", "劳动者提前三十日以书面形式通知用人单位，可以解除劳动合同。"),
    ("labour", "第四十七条", "经济补偿按劳动者在本单位工作的年限，每满一年支付一个月工资的标准向劳动者支付。"),
    (
        "labour",
        "第八十二条",
        "用人单位自用工之日起超过一个月不满一年未与劳动者订立书面劳动合同的，应当向劳动者每月支付二倍的工资。",
    ),
    ("noise", "第六十四条", "禁止在噪声敏感建筑物集中区域使用高音广播喇叭。"),
    ("code", "第五百七十二条", "在噪声敏感建筑物集中区域，禁止夜间进行产生噪声的建筑施工作业。"),
    (
        "code",
        "第一千二百四十二条",
        "本法自 2026年8月15日起施行。《中华人民共和国环境保护法》、《中华人民共和国噪声污染防治法》同时废止。",
    ),
    ("mark-old", "第三十九条", "注册商标的有效期为十年，自核准注册之日起计算。"),
    ("mark-new", "第四十条", "注册商标的有效期为十年，自核准注册之日起计算。"),
    ("health", "第三条", "国家建立多层次医疗保障体系。"),
    ("net", "第二十三条", "按照规定留存相关的网络日志不少于六个月。"),
    ("crime", "第一百二十条", "组织、领导恐怖活动组织的，处十年以上有期徒刑或者无期徒刑。"),
    ("crime", "第一百二十条之一", "资助恐怖活动组织的，处五年以下有期徒刑。"),
)


def write_table(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE laws (law_id, law_name, effective_date, version_date, status)")
        db.execute("CREATE TABLE articles (id INTEGER PRIMARY KEY, law_id, article_no, article_text)")
        db.executemany("INSERT INTO laws VALUES (?, ?, ?, ?, ?)", LAWS)
        db.executemany("INSERT INTO articles (law_id, article_no, article_text) VALUES (?, ?, ?)", ARTICLES)
    return path


@contextmanager
def small_table(folder: Path) -> Iterator[LawTable]:
    with closing(open_laws(write_table(folder / "laws.db"), folder / "cache")) as laws:
        yield laws


@contextmanager
def real_table(folder: Path) -> Iterator[LawTable]:
    try:
        source = resolve("china-laws") / "laws.db"
    except ModelMissing:
        pytest.skip("no law table; run: hotline models pull china-laws")
    with closing(open_laws(source, folder)) as laws:
        yield laws
