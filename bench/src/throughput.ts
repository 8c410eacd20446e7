/** Requests a second: bare servers and the gateway side by side, at 1, 10 and 50 connections. */
import { fileURLToPath } from "node:url";
import { startGateway } from "./gateway.ts";
import type { LoadResult } from "./load.ts";
import { load, type Server, startServer } from "./server.ts";

export interface Line {
  readonly name: string;
  readonly connections: number;
  readonly result: LoadResult;
}

interface Scenario {
  readonly name: string;
  readonly start: () => Promise<Server & { token?: string }>;
  readonly headers: (token: string) => readonly string[];
}

const bare = (file: string) => () =>
  startServer([process.execPath, fileURLToPath(new URL(`bare/${file}.mjs`, import.meta.url))]);
const bearer = (token: string): string => `authorization: Bearer ${token}`;

const SCENARIOS: readonly Scenario[] = [
  { name: "bare node:http", start: bare("http"), headers: () => [bearer("svc_bench")] },
  { name: "bare hono", start: bare("hono"), headers: () => [bearer("svc_bench")] },
  { name: "bare hono, 401", start: bare("hono"), headers: () => [bearer("svc_wrong")] },
  {
    name: "gateway, whole turn",
    start: () => startGateway(0),
    headers: (token) => [bearer(token), "x-session-id: bench-{{c}}"],
  },
  { name: "gateway, 401", start: () => startGateway(0), headers: () => [bearer(`svc_${"0".repeat(64)}`)] },
  { name: "gateway, 429", start: () => startGateway(1), headers: (token) => [bearer(token)] },
];

export async function measureThroughput(seconds: number, onLine: (line: Line) => void): Promise<Line[]> {
  const lines: Line[] = [];
  for (const connections of [1, 10, 50]) {
    for (const { name, start, headers } of SCENARIOS) {
      const server = await start();
      const result = await load({
        port: server.port,
        path: "/webhook",
        connections,
        seconds,
        warmSeconds: 1,
        headers: headers(server.token ?? ""),
        body: '{"message":"hello from the bench"}',
        pid: server.pid,
      });
      await server.stop();
      lines.push({ name, connections, result });
      onLine(lines.at(-1)!);
    }
  }
  return lines;
}
