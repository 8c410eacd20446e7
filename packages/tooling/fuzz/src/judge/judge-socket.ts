/** What a server says on a WebSocket: whole frames, not masked; texts that are JSON; errors in our shape; an end with a reason. */
import { ERRORS, type ErrorCode } from "@svc/contract";
import type { Attack, Exchange } from "../attack.ts";
import { DOCUMENTED, type Rules } from "./rules.ts";

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

const CLOSE = 8;
/** Close codes of RFC 6455 section 7.4.1 for a client that breaks the protocol, sends too much, or violates the policy. */
const WRONG: ReadonlySet<number> = new Set([1002, 1003, 1007, 1008, 1009]);

/** `bytes`: received after the handshake. */
export function judgeSocket(bytes: Buffer, attack: Attack, { endedBy }: Exchange, rules: Rules): string[] {
  if (attack.frames === undefined) return [];
  const { frames, problem } = readFrames(bytes);
  const found = problem === undefined ? [] : [`sends what is no WebSocket: ${problem}`];
  if (rules.secrets.some((secret) => bytes.includes(secret))) found.push("tells a secret");
  for (const { opcode, payload } of frames) if (opcode === 1) found.push(...judgeText(payload, attack));
  if (endedBy !== "server") return found;
  const last = frames.at(-1);
  const code = last?.opcode === CLOSE && last.payload.length >= 2 ? last.payload.readUInt16BE(0) : undefined;
  if (code === undefined) found.push("ends a WebSocket without a reason");
  else if (attack.frames === "broken" ? !WRONG.has(code) : code !== 1000) found.push(`ends a WebSocket with ${code}`);
  return found;
}

function judgeText(payload: Buffer, { marks }: Attack): string[] {
  const message = parsed(payload);
  if (typeof message?.["type"] !== "string") return ["says what is no object with a type"];
  if (message["type"] !== "error") return [];
  const { code, error } = message;
  const entry = typeof code === "string" && Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : undefined;
  if (entry === undefined || typeof error !== "string" || error.trim() === "")
    return ["an error that has not our shape"];
  const found: string[] = [];
  if (entry.status >= 500 && !DOCUMENTED.has(String(code))) found.push(`an error ${String(code)}`);
  if (marks.some((mark) => error.includes(mark))) found.push("an error quotes what it was sent");
  return found;
}

function parsed(payload: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(payload.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function readFrames(bytes: Buffer): { readonly frames: readonly Frame[]; readonly problem?: string } {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length;) {
    const [first = 0, second] = bytes.subarray(at);
    const opcode = first & 15;
    if ((first & 0x70) !== 0 || ![1, 2, CLOSE, 9, 10].includes(opcode)) return { frames, problem: "an unknown frame" };
    if (second === undefined) return { frames };
    if (second >= 0x80) return { frames, problem: "a masked frame" };
    const wide = second === 126 ? 2 : second === 127 ? 8 : 0;
    if (bytes.length < at + 2 + wide) return { frames };
    const length =
      wide === 0 ? second : wide === 2 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    const end = at + 2 + wide + length;
    // What comes last may be cut off: the attacker leaves, or the server has told him to.
    if (bytes.length < end) return { frames };
    frames.push({ opcode, payload: bytes.subarray(at + 2 + wide, end) });
    at = end;
  }
  return { frames };
}
