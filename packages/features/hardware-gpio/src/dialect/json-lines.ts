/**
 * JSON lines, for firmware of one's own and for bridges. Two forms: with ids, and without. A ping with an id tells which one a board
 * speaks, as one without ids answers it without.
 */
import { randomInt } from "node:crypto";
import { type Json, SvcError } from "@svc/contract";
import type { Level, Pull } from "@svc/kit/hardware";
import { type Link, type Parse, printable } from "../link/link.ts";
import type { Dialect, Motors } from "./dialect.ts";

/** With the newline: small boards read into a buffer of this size. */
const MOST_SENT_BYTES = 256;
const MOST_RECEIVED_BYTES = 4096;

/** Four characters. */
const SERIES = 36 ** 4;

/** Farther than any sensor of a small robot measures. */
const FARTHEST_MM = 100_000;

export interface Answer {
  readonly id: string | undefined;
  readonly ok: boolean;
  readonly data: Json | undefined;
  readonly error: string | undefined;
}

/** `id` makes it the form with ids. */
export function encodeCommand(cmd: string, values: Readonly<Record<string, Json>>, id?: string): string {
  const line = JSON.stringify(id === undefined ? { cmd, params: values } : { id, cmd, args: values });
  if (Buffer.byteLength(line) < MOST_SENT_BYTES) return `${line}\n`;
  throw new SvcError("TOOL_BAD_INPUT", `The command is longer than the ${MOST_SENT_BYTES} bytes that a board takes.`);
}

/** Undefined for a line that is no answer, such as a message of the board's log. */
export function decodeAnswer(line: string): Answer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("ok" in value) || typeof value.ok !== "boolean")
    return undefined;
  const { id, ok, data, result, error } = value as Record<string, unknown> & { ok: boolean };
  return {
    id: typeof id === "string" || typeof id === "number" ? String(id) : undefined,
    ok,
    data: (data ?? result) as Json | undefined,
    error: typeof error === "string" ? error : undefined,
  };
}

/** Undefined: the board does not speak this dialect. */
export async function greetJson(link: Link, what: string, signal: AbortSignal): Promise<Dialect | undefined> {
  const id = "svc-0";
  await link.write(encodeCommand("ping", {}, id));
  for (;;) {
    const answer = decodeAnswer(await link.incoming.take(takeLine(what), signal));
    if (answer && (answer.id === undefined || answer.id === id)) return new JsonLines(link, what, answer.id === id);
  }
}

class JsonLines implements Dialect {
  readonly protocol = "json";
  isSettled = true;
  readonly #link: Link;
  readonly #what: string;
  readonly #hasIds: boolean;
  /** What ids begin with: a late answer to a connection before this one, as a slow board gives it, must not answer a command of this one. */
  readonly #series = randomInt(SERIES).toString(36);
  #count = 0;

  constructor(link: Link, what: string, hasIds: boolean) {
    this.#link = link;
    this.#what = what;
    this.#hasIds = hasIds;
  }

  async describe(signal: AbortSignal): Promise<Json> {
    const capabilities = await this.#command("capabilities", {}, signal).catch((error: unknown) => {
      // A board may have none to tell of.
      if (error instanceof SvcError && error.code === "BOARD_FAILED" && this.isSettled) return null;
      throw error;
    });
    return { form: this.#hasIds ? "with ids" : "without ids", capabilities: capabilities ?? null };
  }

  async readPin(pin: number, pull: Pull | undefined, signal: AbortSignal): Promise<Level> {
    const data = await this.#command("gpio_read", pull ? { pin, pull } : { pin }, signal);
    const level = levelIn(data);
    if (level !== undefined) return level;
    throw new SvcError("BOARD_FAILED", `${this.#what} answered gpio_read without a level of 0 or 1.`);
  }

  async readAnalog(pin: number, signal: AbortSignal): Promise<number> {
    const data = await this.#command("gpio_read", { pin, mode: "analog" }, signal);
    const value = typeof data === "object" && data !== null && "value" in data ? data["value"] : data;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    throw new SvcError("BOARD_FAILED", `${this.#what} answered gpio_read of an analog pin without a number.`);
  }

  async writePin(pin: number, value: Level, signal: AbortSignal): Promise<void> {
    await this.#command("gpio_write", { pin, value }, signal);
  }

  readonly motors: Motors = {
    set: async ({ motors, left, right, ttlMs }, signal) => {
      const speeds = { left_speed: millimetres(left), right_speed: millimetres(right) };
      await this.#command("motor_set", { ...motors, ...speeds, ttl_ms: Math.round(ttlMs) }, signal);
    },
    stop: async (motors, signal) => void (await this.#command("motor_stop", { ...motors }, signal)),
    distance: async (pin, signal) => {
      const data = await this.#command("distance_read", { pin }, signal);
      const value = typeof data === "object" && data !== null && "value" in data ? data["value"] : data;
      if (value === null) return Number.POSITIVE_INFINITY;
      if (typeof value === "number" && value >= 0 && value <= FARTHEST_MM) return value / 1000;
      throw new SvcError("BOARD_FAILED", `${this.#what} answered distance_read without millimetres or null.`);
    },
  };

  async #command(cmd: string, values: Readonly<Record<string, Json>>, signal: AbortSignal): Promise<Json | undefined> {
    const id = this.#hasIds ? `${this.#series}-${(this.#count += 1)}` : undefined;
    const line = encodeCommand(cmd, values, id);
    // Without ids an answer is that of the last command; what came before belongs to none.
    this.#link.incoming.discard();
    this.isSettled = false;
    await this.#link.write(line);
    for (;;) {
      const answer = decodeAnswer(await this.#link.incoming.take(takeLine(this.#what), signal));
      if (!answer || answer.id !== id) continue;
      this.isSettled = true;
      if (answer.ok) return answer.data;
      throw new SvcError(
        "BOARD_FAILED",
        `${this.#what} refused ${cmd}: ${printable(answer.error ?? "no reason given")}`,
      );
    }
  }
}

/** One line. Throws BOARD_FAILED for one that does not end. */
const takeLine =
  (what: string): Parse<string> =>
  (bytes) => {
    const end = bytes.indexOf(0x0a);
    if (end >= 0 && end <= MOST_RECEIVED_BYTES) return { value: bytes.toString("utf8", 0, end), used: end + 1 };
    if (bytes.length <= MOST_RECEIVED_BYTES) return undefined;
    throw new SvcError("BOARD_FAILED", `${what} sent more than ${MOST_RECEIVED_BYTES} bytes without a newline.`, {
      hint: "Check that the board speaks JSON lines, and that the baud rate is right.",
    });
  };

const millimetres = (metres: number): number => Math.round(metres * 1000);

function levelIn(data: Json | undefined): Level | undefined {
  const value = typeof data === "object" && data !== null && "value" in data ? data["value"] : data;
  if (value === 1 || value === true || value === "1" || value === "HIGH") return 1;
  if (value === 0 || value === false || value === "0" || value === "LOW") return 0;
  return undefined;
}
