/** Triggers that come at a steady pace, whether or not those before them have been answered. */
import { Agent, request } from "node:http";
import { quantile } from "../load.ts";

export interface Steady {
  readonly perSecond: number;
  readonly triggers: number;
  /** Answered 202 with a run. */
  readonly accepted: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** After the last answer, until no run had to end any more. */
  readonly endedAfterMs: number;
}

export interface SteadyOptions {
  readonly port: number;
  readonly token: string;
  readonly path: string;
  readonly body: string;
  readonly perSecond: number;
  readonly seconds: number;
}

export async function steady({ port, token, path, body, perSecond, seconds }: SteadyOptions): Promise<Steady> {
  const agent = new Agent({ keepAlive: true });
  const authorization = `Bearer ${token}`;
  const send = (): Promise<{ ms: number; accepted: boolean }> =>
    new Promise((resolve, reject) => {
      const sentAt = performance.now();
      const headers = { authorization, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const outgoing = request({ port, host: "127.0.0.1", method: "POST", path, agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => {
          const accepted = response.statusCode === 202 && text.includes('"run_id"');
          resolve({ ms: performance.now() - sentAt, accepted });
        });
      });
      outgoing.on("error", reject).end(body);
    });
  const answers: ReturnType<typeof send>[] = [];
  const beganAt = performance.now();
  const triggers = perSecond * seconds;
  while (answers.length < triggers) {
    const due = Math.min(triggers, Math.floor(((performance.now() - beganAt) * perSecond) / 1000) + 1);
    while (answers.length < due) answers.push(send());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const done = await Promise.all(answers);
  const answeredAt = performance.now();
  while (await isBusy(port, authorization)) await new Promise((resolve) => setTimeout(resolve, 10));
  agent.destroy();
  const ms = done.map((answer) => answer.ms);
  return {
    perSecond,
    triggers,
    accepted: done.filter(({ accepted }) => accepted).length,
    p50Ms: quantile(ms, 0.5),
    p99Ms: quantile(ms, 0.99),
    endedAfterMs: performance.now() - answeredAt,
  };
}

async function isBusy(port: number, authorization: string): Promise<boolean> {
  for (const status of ["pending", "running", "waiting_approval"]) {
    const url = `http://127.0.0.1:${port}/api/sop-runs?status=${status}&limit=1`;
    const answer = await fetch(url, { headers: { authorization } });
    if (((await answer.json()) as { runs: readonly object[] }).runs.length > 0) return true;
  }
  return false;
}
