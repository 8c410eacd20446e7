/** What a plugin gets of the service in one call. */
import type { ToolContext } from "@svc/contract";
import { pluginRequests } from "../http/plugin-requests.ts";
import type { InstalledPlugin } from "../manifest/types.ts";
import { printable } from "./failures.ts";
import { MAX_LOG_LINE_BYTES, MAX_LOG_LINES } from "./frames.ts";
import type { CallServices } from "./plugin-process.ts";

export function callServices(plugin: InstalledPlugin, context: Pick<ToolContext, "fetch" | "log">): CallServices {
  let lines = 0;
  return {
    request: pluginRequests(plugin, context),
    log(line) {
      lines += 1;
      if (lines > MAX_LOG_LINES) return;
      context.log.debug("a plugin says", {
        plugin: plugin.name,
        line: printable(line.subarray(0, MAX_LOG_LINE_BYTES)),
      });
    },
  };
}
