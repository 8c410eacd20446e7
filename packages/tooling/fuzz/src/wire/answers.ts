/** Reads what a server sent, as strictly as a suspicious proxy would. */

export interface Answer {
  readonly status: number;
  /** Lower-case names; repeated headers keep all their values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Buffer;
  /** The bytes of status line and headers, as text. */
  readonly head: string;
}

export interface Answers {
  /** Final answers, whole. */
  readonly final: readonly Answer[];
  /** Statuses of the interim ones (1xx). */
  readonly interim: readonly number[];
  /** Bytes after the last whole answer. */
  readonly rest: Buffer;
  /** Why the bytes are no HTTP response. */
  readonly problem?: string;
  /** The connection has become a WebSocket: what came on it since. */
  readonly frames?: Buffer;
  /** An event stream has begun, which by its nature has no end. */
  readonly streaming?: boolean;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const EMPTY = Buffer.alloc(0);

/** `head`: the answers are to HEAD requests. */
export function readAnswers(bytes: Buffer, head = false): Answers {
  const final: Answer[] = [];
  const interim: number[] = [];
  let rest = bytes;
  const stop = (more: Partial<Answers> = {}): Answers => ({ final, interim, rest, ...more });
  while (rest.length > 0) {
    const end = rest.indexOf(HEAD_END);
    if (end < 0) {
      const prefix = "HTTP/1.1 ";
      const isHttp = prefix.startsWith(rest.toString("latin1", 0, prefix.length));
      return stop(isHttp ? {} : { problem: "does not begin like a response" });
    }
    const read = readHead(rest.toString("latin1", 0, end));
    if (typeof read === "string") return stop({ problem: read });
    const after = rest.subarray(end + HEAD_END.length);
    if (read.status < 200 && read.status !== 101) {
      interim.push(read.status);
      rest = after;
      continue;
    }
    if (read.headers.get("content-type")?.[0]?.startsWith("text/event-stream")) {
      final.push({ ...read, body: EMPTY });
      rest = EMPTY;
      return stop({ streaming: true });
    }
    if (read.status === 101) {
      final.push({ ...read, body: EMPTY });
      rest = EMPTY;
      return stop({ frames: after });
    }
    const body = head || [204, 304].includes(read.status) ? { bytes: EMPTY, length: 0 } : readBody(read, after);
    if (typeof body === "string") return stop({ problem: body });
    if (body === undefined) return stop();
    final.push({ ...read, body: body.bytes });
    rest = after.subarray(body.length);
  }
  return stop();
}

function readHead(text: string): Omit<Answer, "body"> | string {
  const [statusLine = "", ...lines] = text.split("\r\n");
  const status = /^HTTP\/1\.1 (\d{3}) [\w '-]*$/.exec(statusLine)?.[1];
  if (status === undefined) return "the status line is malformed";
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const parts = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\x20-\x7e]*)$/.exec(line);
    if (!parts) return "a header line is malformed";
    const name = parts[1]!.toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), parts[2]!]);
  }
  return { status: Number(status), headers, head: text };
}

/** Undefined: not all of it is here. */
function readBody(head: Omit<Answer, "body">, after: Buffer): { bytes: Buffer; length: number } | string | undefined {
  const lengths = head.headers.get("content-length") ?? [];
  const codings = head.headers.get("transfer-encoding") ?? [];
  if (lengths.length + codings.length !== 1) return "not exactly one of Content-Length and Transfer-Encoding";
  if (codings.length > 0) return codings[0] === "chunked" ? readChunks(after) : "an unknown transfer coding";
  if (!/^\d+$/.test(lengths[0]!)) return "Content-Length is no number";
  const length = Number(lengths[0]);
  return after.length < length ? undefined : { bytes: after.subarray(0, length), length };
}

function readChunks(after: Buffer): { bytes: Buffer; length: number } | string | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = after.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const size = after.toString("latin1", at, end);
    if (!/^[0-9a-f]+$/i.test(size)) return "a chunk's size is no number";
    const from = end + 2;
    const to = from + Number.parseInt(size, 16);
    if (after.length < to + 2) return undefined;
    if (after.toString("latin1", to, to + 2) !== "\r\n") return "a chunk has no end";
    if (to === from) return { bytes: Buffer.concat(chunks), length: to + 2 };
    chunks.push(after.subarray(from, to));
    at = to + 2;
  }
}
