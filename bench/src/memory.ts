/** Anonymous resident memory: idle beside the bare server, and before and after a lot of whole turns. */
import { fileURLToPath } from "node:url";
import { startGateway } from "./gateway.ts";
import { anonymousMb, load, startServer } from "./server.ts";

export interface Memory {
  readonly bareIdleMb: number;
  readonly idleMb: number;
  /** After each tenth of the requests. */
  readonly duringMb: readonly number[];
  readonly requests: number;
}

const SETTLE_MS = 3000;

export async function measureMemory(requests: number): Promise<Memory> {
  const bare = await startServer([process.execPath, fileURLToPath(new URL("bare/http.mjs", import.meta.url))]);
  const gateway = await startGateway(0);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const bareIdleMb = anonymousMb(bare.pid);
  const idleMb = anonymousMb(gateway.pid);
  await bare.stop();
  const duringMb: number[] = [];
  for (let tenth = 0; tenth < 10; tenth += 1) {
    await load({
      port: gateway.port,
      path: "/webhook",
      connections: 50,
      seconds: 600,
      warmSeconds: 0,
      maxRequests: requests / 10,
      headers: [`authorization: Bearer ${gateway.token}`, "x-session-id: bench-{{c}}"],
      body: '{"message":"hello from the bench"}',
    });
    duringMb.push(anonymousMb(gateway.pid));
  }
  await gateway.stop();
  return { bareIdleMb, idleMb, duringMb, requests };
}
