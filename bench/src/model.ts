/** Turns with a model over HTTP that answers at once: what the way to the model costs, whole and streamed, without and with tools. */
import { get } from "node:http";
import { fileURLToPath } from "node:url";
import { type BenchGateway, paired, startDaemon } from "./gateway.ts";
import type { LoadResult } from "./load.ts";
import { load, startServer } from "./server.ts";

export interface ModelLine {
  readonly name: string;
  readonly connections: number;
  readonly result: LoadResult;
}

interface Scenario {
  readonly name: string;
  /** Of the stub. Without one: the built-in model. */
  readonly provider?: string;
  readonly hasTools?: boolean;
  readonly isStreamed?: boolean;
}

const FORMATS = [
  { format: "Chat Completions", provider: "openai-compatible" },
  { format: "Messages", provider: "anthropic" },
  { format: "Responses", provider: "openai" },
] as const;

const SCENARIOS: readonly Scenario[] = [
  { name: "built-in model" },
  ...FORMATS.flatMap(({ format, provider }): Scenario[] => [
    { name: `${format}, whole, no tools`, provider },
    { name: `${format}, whole, tools offered`, provider, hasTools: true },
    { name: `${format}, streamed, no tools`, provider, isStreamed: true },
    { name: `${format}, streamed, tools offered`, provider, isStreamed: true, hasTools: true },
  ]),
];

/** A new process compiles as it runs, until it has had some 20 000 turns. */
const WARM = { connections: 50, maxRequests: 20_000, seconds: 20, warmSeconds: 0 };

/** A turn with the stub takes so much at most, in processor time at 50 connections. */
const AIM_US = 300;

/** `isWanted`: which of the cases. */
export async function measureModel(
  seconds: number,
  onLine: (line: ModelLine) => void,
  isWanted: (line: Pick<ModelLine, "name" | "connections">) => boolean = () => true,
): Promise<ModelLine[]> {
  const stub = await startServer([process.execPath, fileURLToPath(new URL("bare/model.mjs", import.meta.url))]);
  const lines: ModelLine[] = [];
  for (const connections of [1, 50]) {
    for (const scenario of SCENARIOS) {
      if (!isWanted({ name: scenario.name, connections })) continue;
      const gateway = await paired(await startDaemon(configOf(scenario, stub.port)));
      const stopReading = scenario.isStreamed ? await readEvents(gateway) : () => {};
      const turns = {
        port: gateway.port,
        path: "/webhook",
        // Without a session: no history is sent, whose size would be a part of what is measured.
        headers: [`authorization: Bearer ${gateway.token}`],
        body: '{"message":"hello from the bench"}',
        pid: gateway.pid,
      };
      await load({ ...turns, ...WARM });
      const result = await load({ ...turns, connections, seconds, warmSeconds: 0.5 });
      stopReading();
      await gateway.stop();
      lines.push({ name: scenario.name, connections, result });
      onLine(lines.at(-1)!);
    }
  }
  await stub.stop();
  return lines;
}

function configOf({ provider, hasTools }: Scenario, port: number): string {
  const address = `http://127.0.0.1:${port}/v1`;
  const model =
    provider === undefined
      ? ""
      : `[model]\nprovider = "${provider}"\nname = "bench"\napi_key = "none"\nbase_url = "${address}"\n`;
  const agent = hasTools ? "" : '[channels_config.webhook]\nagent = "plain"\n[agents.plain]\ntools = []\n';
  return `[gateway]\nwebhook_rate_limit_per_minute = 0\n[agent]\nmax_parallel_turns = 50\n${model}${agent}`;
}

/** An answer is streamed for those who read along. The result ends the reading. */
function readEvents({ port, token }: BenchGateway): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const request = get({ host: "127.0.0.1", port, path: "/api/events", headers, agent: false }, (response) => {
      response.resume();
      response.on("error", () => {});
      resolve(() => request.destroy());
    }).on("error", reject);
  });
}

export function modelRow({ name, connections, result }: ModelLine): string {
  const { perSecond, p50Ms, cpuUs, statuses } = result;
  return `${name.padEnd(41)} ${connections} connections  ${perSecond.toFixed(0)}/s  p50 ${p50Ms.toFixed(2)} ms  ${cpuUs.toFixed(0)} us CPU  ${JSON.stringify(statuses)}`;
}

export function modelTable(lines: readonly ModelLine[]): string {
  const rows = lines.map(({ name, connections, result: { perSecond, p50Ms, p99Ms, cpuUs } }) => {
    const hasAim = connections === 50 && name !== "built-in model";
    const times = `${p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)}`;
    return `| ${name} | ${connections} | ${perSecond.toFixed(0)} | ${times} | ${cpuUs.toFixed(0)} | ${hasAim ? `≤ ${AIM_US}` : ""} |`;
  });
  return [
    "| model | connections | turns/s | p50 ms | p99 ms | CPU µs/turn | aim |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
