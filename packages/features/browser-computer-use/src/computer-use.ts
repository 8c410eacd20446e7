/** The backend `computer_use`: a service that sees a screen and has a mouse and a keyboard there. */
import type { Contributions, FeatureContext } from "@svc/contract";
import { browserGuard, browserSettings } from "@svc/kit/browser";
import { computerUseTool } from "./computer-use-tool.ts";
import { checkEndpoint } from "./endpoint.ts";
import { computerUseService } from "./service.ts";

export function create(context: FeatureContext): Contributions {
  const settings = browserSettings(context);
  const { allowed_domains: allowedDomains } = settings;
  const guard = browserGuard(allowedDomains, (url) => context.resolve(url));
  const service = computerUseService(settings, context);
  return {
    tools: [computerUseTool({ guard, service, clock: context.clock })],
    async register(signal) {
      signal.throwIfAborted();
      checkEndpoint(settings);
      if (allowedDomains.length === 0) context.log.warn("no allowed_domains configured: the browser opens no page");
    },
  };
}
