/** Compares the allowed answers to an attack with the actual ones: each difference is a sentence. */
import type { Attack, Exchange } from "../attack.ts";
import { type Answer, readAnswers } from "../wire/answers.ts";
import { judgeAnswer } from "./judge-answer.ts";
import { judgeSocket } from "./judge-socket.ts";
import type { Rules } from "./rules.ts";

/** Nothing when all is well. */
export function judge(attack: Attack, exchange: Exchange, rules: Rules): string[] {
  const { final, rest, problem, streaming, frames } = readAnswers(exchange.received, attack.head);
  const found: string[] = [];
  if (exchange.endedBy === "late") found.push("hangs: no end within the bound");
  if (problem !== undefined) found.push(`sends what is no response: ${problem}`);
  if (exchange.endedBy === "server" && rest.length > 0 && problem === undefined) {
    found.push("closes in the middle of an answer");
  }
  if (final.length > attack.requests) found.push(`answers ${final.length} times to ${attack.requests} requests`);
  if (exchange.endedBy === "server" && final.length === 0 && mustAnswer(attack)) {
    found.push(`closes without an answer (${exchange.error ?? "in order"})`);
  }
  if (attack.broken) found.push(...judgeBroken(attack, final, exchange));
  if (attack.inOrder) found.push(...judgeOrder(attack.inOrder, final));
  if (attack.elsewhere && final.some(({ status }) => status < 400))
    found.push("serves another path than it was asked for");
  if (frames !== undefined) found.push(...judgeSocket(frames, attack, exchange, rules));
  for (const answer of final) found.push(...judgeAnswer(answer, attack, rules, streaming === true));
  return [...new Set(found)];
}

const mustAnswer = (attack: Attack): boolean =>
  attack.mute !== true && (attack.ending === "answer" || attack.ending === "fin");

function judgeBroken(attack: Attack, final: readonly Answer[], exchange: Exchange): string[] {
  const found: string[] = [];
  if (final.length > 1) found.push("goes on reading after a request that has no certain end");
  if (attack.broken === "refused" && final.some(({ status }) => status < 400)) {
    found.push("serves a request that can be read in two ways");
  }
  if (attack.ending === "answer" && exchange.endedBy === "client") found.push("keeps a connection that is out of step");
  return found;
}

function judgeOrder(wanted: readonly string[], final: readonly Answer[]): string[] {
  const isWrong = final.some(({ status, body }, index) => status === 200 && !body.includes(wanted[index] ?? ""));
  return isWrong ? ["answers pipelined requests out of their order"] : [];
}
