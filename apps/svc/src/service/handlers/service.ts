/** What commands ask of a service: answered by the daemon over the control socket, or in the process of the command. */
import type { ControlName } from "@svc/api/control";
import type { Handlers } from "../control.ts";
import { approvalHandlers, auditHandlers } from "./approvals.ts";
import { featureRouteHandlers, passkeyHandlers } from "./feature-routes.ts";
import { chatHandlers } from "./chat.ts";
import { channelHandlers } from "./channels.ts";
import { messageHandlers } from "./messages.ts";
import { modelHandlers } from "../model-test.ts";
import { secretHandlers } from "./secrets.ts";
import { sessionHandlers } from "./sessions.ts";
import { sopHandlers } from "./sops.ts";
import { localClient } from "../local-client.ts";
import type { Service } from "../service.ts";
import { checkProcedures } from "../governance/procedures.ts";
import { featureList, toolList } from "../status.ts";

/** What only a daemon can do. */
type OfDaemon = "status" | "reload" | "restart" | "pair" | "doctor" | "backup" | "restore" | `device${string}`;

export async function serviceHandlers(service: Service): Promise<Omit<Handlers, Extract<ControlName, OfDaemon>>> {
  const { approvals, author, rules, sops } = service.governance;
  return {
    ...sessionHandlers({ sessions: service.agent.sessions, devices: () => service.store.devices.all() }),
    ...modelHandlers((agent, signal) => service.agent.test(agent, signal)),
    ...secretHandlers({
      home: service.context.home,
      file: () => service.config.file,
      features: service.context.composition.features,
      vault: service.store.vault,
    }),
    ...channelHandlers(service),
    ...messageHandlers(service.messaging.messageAdmin),
    ...approvalHandlers(approvals, rules),
    ...sopHandlers({
      sops,
      author,
      approvals,
      check: () => checkProcedures(service.context, service.config, toolNames(service)),
      events: service.isDaemon ? service.events.hub : undefined,
    }),
    ...chatHandlers(service, await localClient(service.store)),
    ...auditHandlers(sops.audit),
    ...passkeyHandlers(service),
    ...featureRouteHandlers(service),
    ping: () => ({ ok: true }),
    features: () => featureList(service),
    tools: () => toolList(service),
  };
}

const toolNames = ({ generation }: Service): string[] => generation.registry.tools.list().map(({ name }) => name);
