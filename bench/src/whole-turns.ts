/** Whole turns over POST /webhook of one gateway. */
import type { BenchGateway } from "./gateway.ts";
import type { LoadResult } from "./load.ts";
import { load } from "./server.ts";

/** `warmSeconds`: before they count. */
export const loadSomeTurns = (
  gateway: BenchGateway,
  connections: number,
  seconds: number,
  warmSeconds = seconds / 5,
): Promise<LoadResult> =>
  load({
    port: gateway.port,
    path: "/webhook",
    connections,
    seconds,
    warmSeconds,
    headers: [`authorization: Bearer ${gateway.token}`, "x-session-id: bench-{{c}}"],
    body: '{"message":"hello from the bench"}',
    pid: gateway.pid,
  });
