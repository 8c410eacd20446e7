/**
 * `svc __plugin-host`: the process that one plugin runs in. It holds nothing of the service: no configuration, no environment,
 * no file; the module comes by its standard input, then one call after the other. Whoever gets out of the engine is in here.
 */
import { boundEngine, memoryKeeper } from "../host/inside/engine.ts";
import { endWithService } from "../host/inside/end-with-service.ts";
import { type CallEnd, failed, runCall } from "../host/inside/run-call.ts";
import { receive, send, type ServiceFrame } from "../host/inside/service-pipe.ts";
import { engine, type WasmModule } from "../host/inside/web-assembly.ts";

/** Ends when the service has done with it. */
export async function run(): Promise<number> {
  endWithService();
  try {
    return await serve();
  } catch (error) {
    // Ending in the usual way would wait for the thread that waits for the service.
    if (process.platform !== "win32") process.kill(process.pid, "SIGKILL");
    throw error;
  }
}

async function serve(): Promise<number> {
  const first = receive();
  if (first?.head.kind !== "load") return BROKEN;
  const { head: limits } = first;
  boundEngine(limits);
  const module = await compiled(first);
  if (module === undefined) return 0;
  const tidy = memoryKeeper(limits);
  send({ kind: "ready" });
  for (let frame = receive(); frame?.head.kind === "call"; frame = receive()) {
    tell(await runCall(module, limits, frame.body));
    tidy();
  }
  return 0;
}

const BROKEN = 70;

async function compiled({ body }: ServiceFrame): Promise<WasmModule | undefined> {
  try {
    return await engine.compile(body);
  } catch (error) {
    tell(failed("invalid", error instanceof Error ? error.message : ""));
    return undefined;
  }
}

function tell(end: CallEnd): void {
  if ("output" in end) send({ kind: "output" }, end.output);
  else send({ kind: "failed", how: end.how }, end.text);
}
