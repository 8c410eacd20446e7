/** Which answer a reply is: it equals a keyword, or begins with one and white space. */
import { SvcError } from "@svc/contract";

const DEFAULT_APPROVE: readonly string[] = ["approve", "yes"];
const DEFAULT_REJECT: readonly string[] = ["reject", "no"];

export interface Keywords {
  readonly approveKeywords: readonly string[];
  readonly rejectKeywords: readonly string[];
}

export interface KeywordMatch {
  readonly approved: boolean;
  /** What comes after the keyword, as it was written; blank: nothing. */
  readonly feedback: string;
}

const MAX_KEYWORDS = 32;
const MAX_CHARS = 64;

/** The longest keyword that fits; of two alike the one that approves. */
export function matchKeyword(reply: string, { approveKeywords, rejectKeywords }: Keywords): KeywordMatch | undefined {
  const words = wordsOf(reply);
  const approve = longest(words, approveKeywords);
  const reject = longest(words, rejectKeywords);
  const length = Math.max(approve, reject);
  if (length === 0) return undefined;
  // Cut where a word ends in the reply itself: a folded word may be longer or shorter than the one that was written.
  return { approved: approve >= reject, feedback: reply.slice(words[length - 1]!.end).trim() };
}

/** Trimmed. Throws BAD_REQUEST for a blank one, too many, and one that would mean both. */
export function checkedKeywords(
  approve: readonly string[] | undefined,
  reject: readonly string[] | undefined,
): Keywords {
  const approveKeywords = checkedList(approve ?? DEFAULT_APPROVE, "approve_keywords");
  const rejectKeywords = checkedList(reject ?? DEFAULT_REJECT, "reject_keywords");
  const approving = new Set(approveKeywords.map(identity));
  if (rejectKeywords.some((keyword) => approving.has(identity(keyword)))) {
    throw new SvcError("BAD_REQUEST", "approve_keywords and reject_keywords have a word in common.", {
      hint: "Where one of the lists is missing, it is approve, yes or reject, no.",
    });
  }
  return { approveKeywords, rejectKeywords };
}

function checkedList(keywords: readonly string[], field: string): readonly string[] {
  const trimmed = keywords.map((keyword) => keyword.trim());
  const isFine = (keyword: string): boolean => keyword !== "" && keyword.length <= MAX_CHARS && !/\p{C}/u.test(keyword);
  if (trimmed.length > MAX_KEYWORDS || !trimmed.every(isFine)) {
    throw new SvcError(
      "BAD_REQUEST",
      `${field} must be at most ${MAX_KEYWORDS} printable texts of 1 to ${MAX_CHARS} characters.`,
    );
  }
  return trimmed;
}

const identity = (keyword: string): string =>
  wordsOf(keyword)
    .map(({ folded }) => folded)
    .join(" ");

interface Word {
  readonly folded: string;
  /** Where it ends in the text. */
  readonly end: number;
}

/** The first words: no keyword has more, and a message can be of any length. */
function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    words.push({ folded: fold(word), end: index + word.length });
    if (words.length === MAX_CHARS) break;
  }
  return words;
}

/** Words of the longest keyword that the reply begins with; 0 when there is none. */
function longest(words: readonly Word[], keywords: readonly string[]): number {
  let most = 0;
  for (const keyword of keywords) {
    const wanted = wordsOf(keyword);
    const fits = wanted.every(({ folded }, at) => words[at]?.folded === folded);
    if (fits) most = Math.max(most, wanted.length);
  }
  return most;
}

/**
 * A word as it compares with others, whatever the case it was written in. Lower case alone would tell ẞ from SS; by way of the
 * upper case both become ss. Only for keywords: look-alikes become equal too, so nobody's name is compared like this.
 */
export const fold = (word: string): string =>
  word.normalize("NFD").toLowerCase().toUpperCase().toLowerCase().normalize("NFC");
