/**
 * Reactions that acknowledge a message, from a pool for the language that it is written in.
 * https://open.larksuite.com/document/server-docs/im-v1/message-reaction/emojis-introduce
 */

export type Locale = "zh-CN" | "zh-TW" | "en" | "ja";

const POOLS: Readonly<Record<Locale, readonly string[]>> = Object.freeze({
  "zh-CN": ["OK", "JIAYI", "APPLAUSE", "THUMBSUP", "MUSCLE", "SMILE", "DONE"],
  "zh-TW": ["OK", "JIAYI", "APPLAUSE", "THUMBSUP", "FINGERHEART", "SMILE", "DONE"],
  en: ["OK", "THUMBSUP", "THANKS", "MUSCLE", "FINGERHEART", "APPLAUSE", "SMILE", "DONE"],
  ja: ["OK", "THUMBSUP", "THANKS", "MUSCLE", "FINGERHEART", "APPLAUSE", "SMILE", "DONE"],
});

/** The same for the same message, also after a restart. */
export function reactionFor(locale: Locale, messageId: string): string {
  const pool = POOLS[locale];
  let sum = 0;
  for (let at = 0; at < messageId.length; at += 1) sum = (sum * 31 + messageId.charCodeAt(at)) >>> 0;
  return pool[sum % pool.length]!;
}

/** Characters that are written in one of the two scripts only, of the most frequent in each. */
const SIMPLIFIED =
  /[们这国说时会为来对发还没过动学样经头问题门开关见车书买卖长东乐习写农军刘华单卫历双叶听员响图圆块坏处复够应张当录忆态总战报护担拥择挂据换损摇数断无旧显术机杀杂权条极构标树检楼欢汉沟测济浅湾满灯灵炉点热爱独现电疗监盘码确离种积称稳类级红纪约线练组细终结给络统继续维绿网罗职联脑节艺药虑规视觉认记设证评词试话该详语误请读谁调谈谢贝负财责货质费资赛运进远连迟适选递遗邮钟钱铁银错键镇间闻阅队阳际陆险随难静须领频风飞饭馆马验鱼鸟龙]/u;
const TRADITIONAL =
  /[們這國說時會為來對發還沒過動學樣經頭問題門開關見車書買賣長東樂習寫農軍劉華單衛歷雙葉聽員響圖圓塊壞處復夠應張當錄憶態總戰報護擔擁擇掛據換損搖數斷無舊顯術機殺雜權條極構標樹檢樓歡漢溝測濟淺灣滿燈靈爐點熱愛獨現電療監盤碼確離種積稱穩類級紅紀約線練組細終結給絡統繼續維綠網羅職聯腦節藝藥慮規視覺認記設證評詞試話該詳語誤請讀誰調談謝貝負財責貨質費資賽運進遠連遲適選遞遺郵鐘錢鐵銀錯鍵鎮間聞閱隊陽際陸險隨難靜須領頻風飛飯館馬驗魚鳥龍]/u;
const READ_CHARS = 2_000;

/** Undefined: nothing in it tells. */
export function localeOf(text: string): Locale | undefined {
  const read = text.slice(0, READ_CHARS);
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(read)) return "ja";
  if (/\p{Script=Han}/u.test(read)) {
    const [simplified, traditional] = [SIMPLIFIED, TRADITIONAL].map(
      (script) => Array.from(read).filter((sign) => script.test(sign)).length,
    ) as [number, number];
    if (simplified === traditional) return undefined;
    return traditional > simplified ? "zh-TW" : "zh-CN";
  }
  return /\p{Script=Latin}/u.test(read) ? "en" : undefined;
}

export interface Languages {
  /** Records the language of a received message. */
  heard(messageId: string, sender: string, text: string): void;
  /** The language of a message: its own, else its sender's, else the platform's default. */
  of(messageId: string): Locale;
}

const MOST = 1_000;

/** `home`: where neither a message nor its sender tells. */
export function languages(home: Locale): Languages {
  const messages = new Map<string, Locale>();
  const senders = new Map<string, Locale>();
  const keep = (map: Map<string, Locale>, key: string, locale: Locale): void => {
    map.delete(key);
    map.set(key, locale);
    for (const oldest of map.keys()) if (map.size > MOST) map.delete(oldest);
  };
  return {
    heard(messageId, sender, text) {
      const own = localeOf(text);
      if (own !== undefined) keep(senders, sender, own);
      // Chinese that is the same in both scripts is more likely to be the simplified one.
      const fallback = /\p{Script=Han}/u.test(text.slice(0, READ_CHARS)) ? "zh-CN" : home;
      keep(messages, messageId, own ?? senders.get(sender) ?? fallback);
    },
    of: (messageId) => messages.get(messageId) ?? home,
  };
}
