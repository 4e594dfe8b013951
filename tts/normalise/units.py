"""Tables: signs of units and currencies → their names. Knows no figures."""

import re

UNITS = {
    "kWh": "千瓦时", "KWH": "千瓦时", "kwh": "千瓦时", "MW": "兆瓦", "kW": "千瓦", "KW": "千瓦", "kw": "千瓦", "W": "瓦",
    "km/h": "公里每小时", "m/s": "米每秒", "km²": "平方公里", "km2": "平方公里", "km": "公里", "KM": "公里",
    "m²": "平方米", "m2": "平方米", "㎡": "平方米", "m³": "立方米", "m3": "立方米", "cm²": "平方厘米", "cm": "厘米", "CM": "厘米",
    "mm": "毫米", "dm": "分米", "μm": "微米", "nm": "纳米", "m": "米", "M": "兆", "ha": "公顷",
    "mg/L": "毫克每升", "mg/m³": "毫克每立方米", "μg/m³": "微克每立方米", "mg/kg": "毫克每公斤",
    "kg": "公斤", "KG": "公斤", "Kg": "公斤", "mg": "毫克", "μg": "微克", "g": "克", "t": "吨",
    "mL": "毫升", "ml": "毫升", "ML": "毫升", "L": "升", "dB(A)": "分贝", "dB": "分贝", "db": "分贝", "DB": "分贝",
    "GHz": "吉赫兹", "MHz": "兆赫兹", "kHz": "千赫兹", "KHz": "千赫兹", "Hz": "赫兹", "Mbps": "兆", "Gbps": "G", "MB": "兆",
    "kV": "千伏", "V": "伏", "mAh": "毫安时", "kPa": "千帕", "MPa": "兆帕", "Pa": "帕", "ppm": "PPM", "kcal": "千卡", "kJ": "千焦",
    "h": "小时", "min": "分钟", "s": "秒", "ms": "毫秒", "℃": "摄氏度", "°C": "摄氏度", "℉": "华氏度", "°F": "华氏度", "°": "度",
    "mmHg": "毫米汞柱", "mmol/L": "毫摩尔每升",
}  # fmt: skip
CURRENCIES = {
    "¥": "元", "RMB": "元", "CNY": "元", "US$": "美元", "HK$": "港元", "HKD": "港元", "$": "美元", "USD": "美元",
    "€": "欧元", "EUR": "欧元", "£": "英镑", "GBP": "英镑", "JPY": "日元",
}  # fmt: skip
_PER = {
    "㎡": "平方米", "m²": "平方米", "m³": "立方米", "h": "小时", "min": "分钟", "t": "吨",
    "kg": "公斤", "km": "公里", "kWh": "千瓦时",
    **{name: name for name in (
        "月", "年", "日", "天", "人", "次", "户", "平方米", "平米", "小时", "吨", "度", "公里", "千米", "立方米", "立方",
        "公斤", "千克", "斤", "件", "个", "位", "张", "份", "车", "晚", "周", "季度", "季", "课时", "学期", "辆",
        "台", "套", "分钟", "千瓦时", "米", "亩", "只", "瓶", "盒", "支", "节", "人次", "人月", "本", "间", "床",
        "袋", "吨公里", "秒", "升", "条", "项",
    )},
}  # fmt: skip


def any_of(names: dict[str, str]) -> str:
    """A pattern for the keys, the longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


SYMBOL = rf"(?:{any_of(UNITS)})(?![A-Za-z0-9])"
CURRENCY = rf"(?:{any_of(CURRENCIES)})"
SCALE = r"(?:[百千]?[万亿]|万亿)"
PER = rf"(?P<per>(?:/(?:{any_of(_PER)})){{0,2}})"


def per(text: str) -> str:
    """Of 元/㎡/月 the /㎡/月: 每平方米每月."""
    return "".join("每" + _PER[part] for part in text.split("/") if part)
