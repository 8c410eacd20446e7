/** What a reply carries of the mail it answers. The conversation has it already, and a model would answer it again. */

/**
 * `text` without a quote at its end, and without the signature. Answers between quoted lines stay with them; a text that is
 * a quote as a whole stays whole.
 */
export function withoutQuote(text: string): string {
  const lines = linesOf(text);
  const signature = lines.indexOf("--");
  // First of all: some mail programs put it below the quote.
  const unsigned = signature > 0 ? lines.slice(0, signature) : lines;
  const answer = unsigned.slice(0, endOfAnswer(unsigned));
  const said = withoutFooter(answer).join("\n").trim();
  return said === "" ? text.trim() : said;
}

/** `text` without the signature at its end, for mail that answers none: there may be more below such a line than that. */
export function withoutSignature(text: string): string {
  const lines = linesOf(text);
  const signature = lines.lastIndexOf("--");
  const isOne = signature > 0 && lines.length - signature <= MAX_SIGNATURE_LINES;
  const said = withoutFooter(isOne ? lines.slice(0, signature) : lines)
    .join("\n")
    .trim();
  return said === "" ? text.trim() : said;
}

const MAX_SIGNATURE_LINES = 15;

const linesOf = (text: string): string[] => text.split("\n").map((line) => line.trimEnd());

/** What telephones put below a mail on their own. */
function withoutFooter(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line !== "");
  return last > 0 && FOOTER.test(lines[last] as string) ? lines.slice(0, last) : lines;
}

const FOOTER =
  /^(?:Sent from (?:my|Outlook|Mail|Yahoo|Proton)\b.{0,60}|Get Outlook for .{0,40}|Von meinem .{1,40} gesendet|Gesendet (?:von|mit) .{1,40}|Envoyé (?:de|depuis) mon .{1,40}|Enviado desde mi .{1,40}|Enviado do meu .{1,40}|Inviato da .{1,40}|Verstuurd vanaf mijn .{1,40})$/iu;

function endOfAnswer(lines: readonly string[]): number {
  const separator = lines.findIndex((line, index) => SEPARATOR.test(line) || isHeaderBlock(lines, index));
  let end = separator > 0 ? separator : lines.length;
  const back = (is: (line: string) => boolean): boolean => {
    const before = end;
    while (end > 0 && is(lines[end - 1] as string)) end -= 1;
    return end < before;
  };
  // Some mail programs draw a line above the headers of the quoted mail.
  const isBlank = (line: string): boolean => line === "" || (separator > 0 && /^[-_]{3,}$/.test(line));
  back(isBlank);
  const hadQuote = back((line) => line === "" || line.startsWith(">"));
  if (hadQuote) end = withoutAttribution(lines, end);
  return end;
}

/** "On Tue, 1 Dec 2026 at 10:00, Ada <ada@example.org> wrote:", which mail programs break into up to three lines. */
function withoutAttribution(lines: readonly string[], end: number): number {
  for (let count = 1; count <= 3 && count <= end; count += 1) {
    const line = lines.slice(end - count, end).join(" ");
    if (line.length <= MAX_ATTRIBUTION_CHARS && ATTRIBUTION.test(line)) return end - count;
  }
  return end;
}

const MAX_ATTRIBUTION_CHARS = 400;
const ATTRIBUTION =
  /^(?:On|Am|Le|El|Il|Em|Op|Den|Dnia|W dniu)\s.*\b(?:wrote|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|skrev|napisał(?:\(a\))?)\b.{0,200}:$/i;

const SEPARATOR =
  /^_{20,}$|^-{2,}\s?(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Messaggio originale|Oorspronkelijk bericht)\s?-{2,}$/i;

/** Outlook starts a quote with the quoted mail's headers: From, Sent, To, Subject, within a few lines. */
function isHeaderBlock(lines: readonly string[], index: number): boolean {
  if (!/^\*?(?:From|Von|De|Da|Van):\*?\s/i.test(lines[index] as string)) return false;
  const next = lines.slice(index + 1, index + 6);
  return [
    /^\*?(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Inviato|Verzonden):/i,
    /^\*?(?:Subject|Betreff|Objet|Asunto|Oggetto|Onderwerp|Assunto):/i,
  ].every((pattern) => next.some((line) => pattern.test(line)));
}
