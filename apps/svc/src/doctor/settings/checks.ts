/** Every check of what is configured. */
import type { Finding } from "../finding.ts";
import { agentFindings } from "./agents.ts";
import { approverFindings, approverProofFindings } from "./approvers.ts";
import { backendFindings } from "./backend.ts";
import { browserFindings } from "./browser.ts";
import { channelFindings } from "./channels.ts";
import { exposureFindings } from "./exposure.ts";
import { leavingFindings } from "./leaving.ts";
import { observingFindings } from "./observing.ts";
import { outgoingWebhookFindings } from "./outgoing-webhook.ts";
import { passkeyFindings } from "./passkeys.ts";
import { agentApprovalFindings, policyFindings } from "./policy.ts";
import { proxyFindings } from "./proxies.ts";
import { publicUrlFindings } from "./public-url.ts";
import { sandboxFindings, sandboxNetworkFindings } from "./sandbox.ts";
import { senderFindings } from "./senders.ts";
import { shortSecretFindings } from "./short-secrets.ts";
import { speechFindings } from "./speech.ts";
import { weakSecretFindings } from "./weak-secrets.ts";
import { webhookFindings } from "./webhook.ts";
import { workspaceFindings } from "./workspace.ts";
import { writerFindings } from "./writers.ts";
import type { Settings } from "./settings.ts";

const GENERAL: readonly ((settings: Settings) => Finding[])[] = [
  agentFindings,
  sandboxFindings,
  publicUrlFindings,
  channelFindings,
  outgoingWebhookFindings,
  approverFindings,
  shortSecretFindings,
  backendFindings,
  browserFindings,
  speechFindings,
];

/** What is open, whether or not that is a mistake. */
const POSTURE: typeof GENERAL = [
  exposureFindings,
  proxyFindings,
  webhookFindings,
  senderFindings,
  writerFindings,
  approverProofFindings,
  agentApprovalFindings,
  policyFindings,
  sandboxNetworkFindings,
  workspaceFindings,
  passkeyFindings,
  leavingFindings,
  observingFindings,
  weakSecretFindings,
];

/** `security`: also what is open. */
export function settingsFindings(settings: Settings, { security }: { readonly security: boolean }): Finding[] {
  return [...GENERAL, ...(security ? POSTURE : [])].flatMap((find) => find(settings));
}
