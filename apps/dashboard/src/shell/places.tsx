/** Where one can go: places on the rail, each with one or several views. What a device may not read is not offered to it. */
import type { ComponentType } from "preact";
import type { IconName } from "../parts/icon.tsx";
import { late } from "../parts/late.tsx";
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
import { Calendar } from "../views/procedures/calendar.tsx";
import { Procedure } from "../views/procedures/procedure.tsx";
import { Procedures } from "../views/procedures/procedures.tsx";
import { Run } from "../views/procedures/run.tsx";
import { Conversation } from "../views/sessions/conversation.tsx";
import { NewChat } from "../views/sessions/new-chat.tsx";
import { Home } from "../views/chats/home.tsx";
import { Shortcuts } from "./shortcuts.tsx";

const settings = () => import("../views/settings/index.ts");
const Setup = late(async () => (await settings()).Setup);
const ModelSettings = late(async () => (await settings()).ModelSettings);
const ChannelSettings = late(async () => (await settings()).ChannelSettings);
const OneChannel = late(async () => (await settings()).OneChannel);
const AllSettings = late(async () => (await settings()).AllSettings);
const OneSection = late(async () => (await settings()).OneSection);
const Changes = late(async () => (await settings()).Changes);

const Hardware = late(async () => (await import("../views/hardware/hardware.tsx")).Hardware);
const Robot = late(async () => (await import("../views/robot/robot.tsx")).Robot);
const watch = () => import("../views/watch/index.ts");
const Usage = late(async () => (await watch()).Usage);
const Logs = late(async () => (await watch()).Logs);
const Doctor = late(async () => (await watch()).Doctor);
const writing = () => import("../views/procedures/writing.ts");
const NewProcedure = late(async () => (await writing()).NewProcedure);
const ProcedureEditor = late(async () => (await writing()).ProcedureEditor);

export interface View {
  /** First word of its address. */
  readonly view: string;
  /** Among the views of its place; undefined: one comes there from elsewhere. */
  readonly label?: string;
  readonly forOperators?: boolean;
  /** Where this one is in service. */
  readonly feature?: string;
  readonly List?: ComponentType;
  readonly Detail?: ComponentType<{ readonly id: string }>;
}

export interface Place {
  readonly id: "chats" | "approvals" | "procedures" | "activity" | "settings";
  readonly label: string;
  readonly icon: IconName;
  readonly views: readonly View[];
}

export const PLACES: readonly Place[] = [
  {
    id: "chats",
    label: "Chats",
    icon: "chat",
    views: [
      { view: "", label: "Chats", List: Home },
      { view: "chat", List: NewChat, forOperators: true },
      { view: "sessions", List: Home, Detail: Conversation },
    ],
  },
  {
    id: "approvals",
    label: "Approvals",
    icon: "bell",
    views: [{ view: "approvals", label: "Approvals", List: Approvals, forOperators: true }],
  },
  {
    id: "procedures",
    label: "Procedures",
    icon: "flow",
    views: [
      { view: "procedures", label: "Procedures", List: Procedures, Detail: Procedure },
      { view: "calendar", label: "Calendar", List: Calendar },
      { view: "new-procedure", List: NewProcedure, forOperators: true },
      { view: "edit-procedure", Detail: ProcedureEditor, forOperators: true },
      { view: "runs", Detail: Run, forOperators: true },
    ],
  },
  {
    id: "activity",
    label: "Activity",
    icon: "pulse",
    views: [
      { view: "overview", label: "Overview", List: Overview },
      { view: "inbox", label: "Inbox", List: Inbox, Detail: Mail, forOperators: true },
      { view: "usage", label: "Usage", List: Usage, forOperators: true },
      { view: "events", label: "Live events", List: Events },
      { view: "logs", label: "Logs", List: Logs, forOperators: true },
      { view: "doctor", label: "Checks", List: Doctor, forOperators: true },
      { view: "audit", label: "Audit log", List: Audit, forOperators: true },
      { view: "hardware", label: "Hardware", List: Hardware, forOperators: true, feature: "hardware-gpio" },
      { view: "robot", label: "Robot", List: Robot, forOperators: true, feature: "safety" },
    ],
  },
  {
    id: "settings",
    label: "Settings",
    icon: "gear",
    views: [
      { view: "setup", label: "Set up", List: Setup, forOperators: true },
      { view: "model", label: "Model", List: ModelSettings, forOperators: true },
      { view: "channels", label: "Channels", List: ChannelSettings, Detail: OneChannel, forOperators: true },
      { view: "settings", label: "All settings", List: AllSettings, Detail: OneSection, forOperators: true },
      { view: "changes", label: "Saved changes", List: Changes, forOperators: true },
      { view: "devices", label: "Devices", List: Devices, forOperators: true },
      { view: "passkeys", label: "Passkeys", List: Passkeys, feature: PASSKEYS },
      { view: "config", label: "Config", List: Config, forOperators: true },
      { view: "features", label: "Features", List: Features },
      { view: "shortcuts", label: "Shortcuts", List: Shortcuts },
    ],
  },
];

export const placeOf = (view: string): Place | undefined =>
  PLACES.find(({ views }) => views.some((one) => one.view === view));

export const viewOf = (view: string): View | undefined =>
  PLACES.flatMap(({ views }) => views).find((one) => one.view === view);

/** The views of a place that this device is offered. */
export const offeredViews = (place: Place, mayOperate: boolean, features: ReadonlySet<string>): readonly View[] =>
  place.views.filter(
    ({ label, forOperators = false, feature }) =>
      label !== undefined && (mayOperate || !forOperators) && (feature === undefined || features.has(feature)),
  );
