/**
 * `svc __plugin-host`: the process that one plugin runs in. It holds nothing of the service: no configuration, no environment,
 * no file; the module comes by its standard input, then one call after the other. Anyone who gets out of the engine is in here.
 */
import {
  boundEngine,
  type CallEnd,
  endWithService,
  engine,
  failed,
  memoryKeeper,
  receive,
  runCall,
  send,
  type ServiceFrame,
  type WasmModule,
} from "../inside.ts";

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
