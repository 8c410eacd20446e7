/**
 * What people see of a text in the platform's markup.
 * https://docs.slack.dev/messaging/formatting-message-text
 */

export interface SeenRun {
  readonly text: string;
  readonly bold?: true;
  readonly italic?: true;
  readonly strike?: true;
  readonly code?: true;
  readonly url?: string;
  /** Mentions a person, or links a channel: `@U123`, `!channel`, `#C123`. */
  readonly mention?: string;
}

/** Without marks, entities and characters that nobody sees. */
export const seenText = (mrkdwn: string): string =>
  seenRuns(mrkdwn)
    .map(({ text }) => text)
    .join("");

export function seenRuns(mrkdwn: string): SeenRun[] {
  return mrkdwn
    .split(/(```[\s\S]*?```)/)
    .flatMap((part, at) => (at % 2 === 1 ? [codeBlock(part)] : part.split(/(?<=\n)/).flatMap(lineRuns)))
    .map((run) => ({ ...run, text: run.text.replaceAll(/[\u200B\u00AD]/g, "") }))
    .filter(({ text, mention }) => text !== "" || mention !== undefined);
}

const codeBlock = (part: string): SeenRun => ({ text: decoded(part.slice(3, -3)), code: true });

function lineRuns(line: string): SeenRun[] {
  const quoted = /^(?:&gt;|>) ?/.exec(line)?.[0] ?? "";
  return styled(unitsOf(line.slice(quoted.length)), {});
}

type Unit = { readonly char: string } | { readonly run: SeenRun };
type Looks = Omit<SeenRun, "text">;

/** Characters that may be marks, and what is none: tokens, entities, code. */
function unitsOf(line: string): Unit[] {
  const units: Unit[] = [];
  for (const [piece] of line.matchAll(/<[^<>\n]*>|&(?:amp|lt|gt);|`[^`\n]+`|[\s\S]/gu)) {
    if (piece.length > 1 && piece.startsWith("<")) units.push({ run: tokenRun(piece.slice(1, -1)) });
    else if (piece.length > 1 && piece.startsWith("`"))
      units.push({ run: { text: decoded(piece.slice(1, -1)), code: true } });
    else if (piece.startsWith("&") && piece.length > 1) units.push({ run: { text: decoded(piece) } });
    else units.push({ char: piece });
  }
  return units;
}

function tokenRun(token: string): SeenRun {
  const [target = "", label] = token.split(/\|(.*)/s);
  if (target.startsWith("!date^")) return { text: decoded(label ?? "") };
  if (/^[@#!]/.test(target)) return { text: label ?? target, mention: target };
  return { text: decoded(label ?? target), url: decoded(target) };
}

const STYLES = [
  ["*", "bold"],
  ["_", "italic"],
  ["~", "strike"],
] as const;

/** A mark opens at the beginning of a word and closes at the end of one, on one line. */
function styled(units: readonly Unit[], looks: Looks): SeenRun[] {
  for (let at = 0; at < units.length; at += 1) {
    const style = STYLES.find(([mark]) => isMark(units[at], mark));
    if (style === undefined || isWordy(units[at - 1]) || isBlank(units[at + 1])) continue;
    const end = units.findIndex(
      (unit, index) =>
        index > at + 1 && isMark(unit, style[0]) && !isBlank(units[index - 1]) && !isWordy(units[index + 1]),
    );
    if (end === -1) continue;
    return [
      ...plain(units.slice(0, at), looks),
      ...styled(units.slice(at + 1, end), { ...looks, [style[1]]: true }),
      ...styled(units.slice(end + 1), looks),
    ];
  }
  return plain(units, looks);
}

const plain = (units: readonly Unit[], looks: Looks): SeenRun[] =>
  units.map((unit) => ("run" in unit ? { ...looks, ...unit.run } : { ...looks, text: unit.char }));

const isMark = (unit: Unit | undefined, mark: string): boolean =>
  unit !== undefined && "char" in unit && unit.char === mark;
const isBlank = (unit: Unit | undefined): boolean => unit === undefined || ("char" in unit && /\s/.test(unit.char));
const isWordy = (unit: Unit | undefined): boolean =>
  unit !== undefined &&
  ("char" in unit ? /[\p{L}\p{N}]/u.test(unit.char) : unit.run.code === true || unit.run.url !== undefined);

const decoded = (text: string): string => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** As the platform hands on what people type; mentions and links, written as it has them, are left alone. */
export const encoded = (text: string): string =>
  text.replaceAll(/<(?:[@#!][^<>\s]+|https?:[^<>]+)>|[&<>]/g, (found) =>
    found.length > 1 ? found : { "&": "&amp;", "<": "&lt;", ">": "&gt;" }[found]!,
  );
