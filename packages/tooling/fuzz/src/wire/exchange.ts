/** Runs one attack on a separate connection. */
import { connect, type Socket } from "node:net";
import type { Attack, Exchange } from "../attack.ts";
import { readAnswers } from "./answers.ts";

export type Place = { readonly host: string; readonly port: number } | { readonly path: string };

/** Limits. They count only the time in which this process runs: an answer that it has not read yet is not missing. */
export interface Patience {
  /** For what needs no waiting: generous, for a busy machine must not be taken for a hang. */
  readonly promptMs: number;
  /**
   * For what the server's own limits on slow headers and bodies must end. "leave": the attacker gives up before, for those
   * limits are minutes.
   */
  readonly slowMs: { readonly headers: number; readonly body: number } | "leave";
}

const LEAVES_AFTER_MS = 5_000;
/** More is looked at of no answer: a stream goes on for as long as it is listened to. */
const MOST_BYTES = 16 * 1_048_576;

/** Never rejects. */
export function exchange(attack: Attack, place: Place, patience: Patience): Promise<Exchange> {
  const startedAt = performance.now();
  const socket = connect({ ...place, noDelay: true, allowHalfOpen: true });
  const received: Buffer[] = [];
  return new Promise((resolve) => {
    let error: string | undefined;
    let bytes = 0;
    let settled = false;
    const settle = (endedBy: Exchange["endedBy"]): void => {
      if (settled) return;
      settled = true;
      cancel();
      socket.destroy();
      const tookMs = performance.now() - startedAt;
      resolve({ received: Buffer.concat(received), endedBy, tookMs, ...(error !== undefined && { error }) });
    };
    const leaves = attack.ending === "silence" && patience.slowMs === "leave";
    const cancel = afterRunning(leaves ? LEAVES_AFTER_MS : boundMs(attack, patience), () =>
      settle(leaves ? "client" : "late"),
    );
    const look = (): void => {
      if (attack.ending !== "answer" && attack.ending !== "fin") return;
      const sofar = Buffer.concat(received);
      if (attack.ending === "answer" ? answered(attack, sofar) : goesOn(attack, sofar)) settle("client");
    };
    if (attack.deaf !== true) {
      socket.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MOST_BYTES) received.push(chunk);
        look();
      });
    }
    socket.on("end", () => settle("server"));
    socket.on("error", (cause: NodeJS.ErrnoException) => (error = cause.code ?? "error"));
    socket.on("close", () => settle("server"));
    void perform(attack, socket, () => settled).then(() => {
      if (attack.ending === "fin" && !socket.destroyed) socket.end();
      // Only TCP knows a reset.
      if (attack.ending === "reset" && "port" in place) socket.resetAndDestroy();
      if (attack.ending === "close" || attack.ending === "reset") settle("client");
    });
  });
}

async function perform(attack: Attack, socket: Socket, isOver: () => boolean): Promise<void> {
  for (const step of attack.steps) {
    if (isOver()) return;
    await ("write" in step
      ? new Promise<void>((written) => {
          socket.write(step.write, () => written());
          // A peer that stops reading must not keep us from what comes after.
          if (attack.deaf) setTimeout(written, 2_000);
        })
      : new Promise((over) => setTimeout(over, step.pauseMs)));
  }
}

/** The answer does not end by itself: a stream, also after the client has half-closed. */
const goesOn = (attack: Attack, received: Buffer): boolean =>
  !attack.broken && readAnswers(received, attack.head).streaming === true;

/** All that was asked is answered, and the server does not mean to say more. */
function answered(attack: Attack, received: Buffer): boolean {
  if (attack.broken) return false;
  const { final, problem, streaming, frames } = readAnswers(received, attack.head);
  if (problem !== undefined || streaming) return true;
  if (frames !== undefined) return attack.frames === undefined;
  const isClosing = final.at(-1)?.headers.get("connection")?.[0]?.toLowerCase() === "close";
  return !isClosing && final.length >= attack.requests;
}

function boundMs({ slow }: Attack, { promptMs, slowMs }: Patience): number {
  return slow === undefined || slowMs === "leave" ? promptMs : slowMs[slow];
}

const TICK_MS = 250;

/** Like setTimeout, but a pause of this process (a busy machine, SIGSTOP) counts as one tick: sockets are read in between. */
function afterRunning(ms: number, then: () => void): () => void {
  let ticks = Math.ceil(ms / TICK_MS);
  const timer = setInterval(() => {
    ticks -= 1;
    if (ticks <= 0) then();
  }, TICK_MS);
  return () => clearInterval(timer);
}
