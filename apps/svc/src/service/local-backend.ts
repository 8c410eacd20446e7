/** The service without its doors, for one command. It takes the home's lock, so a daemon and this never share a database. */
import { SvcError } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import type { Backend } from "./backend.ts";
import { openContext, prepareHome } from "./context.ts";
import { openService } from "./service.ts";
import { serviceHandlers } from "./service-handlers.ts";

export async function openLocally(context: CommandContext): Promise<Backend> {
  await prepareHome(context);
  const never = new AbortController().signal;
  const service = await openService(await openContext(context, true), never);
  const handlers = await serviceHandlers(service);
  return {
    call: async ({ name, body = {}, onEvent = () => {}, signal = never }) => {
      const handler = handlers[name];
      if (!handler) throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
      return handler({ body, signal, send: onEvent });
    },
    [Symbol.asyncDispose]: () => service.close(),
  };
}
