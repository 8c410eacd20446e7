/** Where one can go. What a device may not read is not offered to it. */
import type { ComponentType } from "preact";
import { PASSKEYS } from "../passkeys/passkeys.ts";
import { Approvals } from "../views/approvals/approvals.tsx";
import { Config } from "../views/config/config.tsx";
import { Events } from "../views/events/events.tsx";
import { Inbox } from "../views/inbox/inbox.tsx";
import { Mail } from "../views/inbox/mail.tsx";
import { Audit } from "../views/others/audit.tsx";
import { Devices } from "../views/others/devices.tsx";
import { Features } from "../views/others/features.tsx";
import { Overview } from "../views/overview/overview.tsx";
import { Passkeys } from "../views/passkeys/passkeys.tsx";
import { Procedure } from "../views/procedures/procedure.tsx";
import { Procedures } from "../views/procedures/procedures.tsx";
import { Run } from "../views/procedures/run.tsx";
import { Conversation } from "../views/sessions/conversation.tsx";
import { NewChat } from "../views/sessions/new-chat.tsx";
import { Sessions } from "../views/sessions/sessions.tsx";

export interface Place {
  /** First word of its address. */
  readonly view: string;
  /** In the navigation; undefined: one comes there from elsewhere. */
  readonly label?: string;
  /** Which of the navigation it belongs to. */
  readonly below?: string;
  readonly forOperators?: boolean;
  /** Where this one is in service. */
  readonly feature?: string;
  readonly List?: ComponentType;
  readonly Detail?: ComponentType<{ readonly id: string }>;
}

export const PLACES: readonly Place[] = [
  { view: "", label: "Overview", List: Overview },
  { view: "approvals", label: "Approvals", List: Approvals, forOperators: true },
  { view: "events", label: "Live events", List: Events },
  { view: "sessions", label: "Sessions", List: Sessions, Detail: Conversation },
  { view: "chat", below: "sessions", List: NewChat, forOperators: true },
  { view: "inbox", label: "Inbox", List: Inbox, Detail: Mail, forOperators: true },
  { view: "procedures", label: "Procedures", List: Procedures, Detail: Procedure },
  { view: "runs", below: "procedures", Detail: Run, forOperators: true },
  { view: "devices", label: "Devices", List: Devices, forOperators: true },
  { view: "passkeys", label: "Passkeys", List: Passkeys, feature: PASSKEYS },
  { view: "config", label: "Config", List: Config, forOperators: true },
  { view: "features", label: "Features", List: Features },
  { view: "audit", label: "Audit log", List: Audit, forOperators: true },
];
