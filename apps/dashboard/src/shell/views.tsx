/** Every view and its address, by area of the rail. A device is not offered what it may not read. */
import { type ComponentType, h } from "preact";
import { useEffect, useState } from "preact/hooks";
import { PASSKEYS } from "../client/passkeys.ts";
import { Button } from "../components/button.tsx";
import type { IconName } from "../components/icon.tsx";
import { loadSettingTexts } from "../texts/setting-texts.ts";
import { type PlainKey, t } from "../texts/texts.ts";
import { Appearance } from "../views/appearance.tsx";
import { Approvals } from "../views/approvals/approvals.tsx";
import { Audit } from "../views/audit.tsx";
import { Conversation } from "../views/conversation/conversation.tsx";
import { Home, NewChat } from "../views/conversation/new-chat.tsx";
import { Devices } from "../views/devices.tsx";
import { Events } from "../views/events.tsx";
import { Inbox, OneMessage } from "../views/inbox.tsx";
import { Overview } from "../views/overview/overview.tsx";
import { Passkeys } from "../views/passkeys.tsx";
import { Calendar } from "../views/procedures/calendar.tsx";
import { Procedure } from "../views/procedures/procedure.tsx";
import { Procedures } from "../views/procedures/procedures.tsx";
import { Run } from "../views/procedures/run.tsx";
import { Shortcuts } from "./shortcuts.tsx";

export interface View {
  /** First word of its address. */
  readonly view: string;
  /** In the list of its area; undefined: not listed, opened by links. */
  readonly label?: PlainKey;
  readonly forOperators?: boolean;
  /** Listed only while this feature runs. */
  readonly feature?: string;
  readonly List?: ComponentType;
  readonly Detail?: ComponentType<{ readonly id: string }>;
}

export interface Area {
  readonly id: "chats" | "approvals" | "procedures" | "activity" | "settings";
  readonly label: PlainKey;
  readonly icon: IconName;
  readonly views: readonly View[];
}

const settings = () => import("../views/settings/index.ts");

const Setup = withSettingTexts(async () => (await settings()).Setup);

const ModelSettings = withSettingTexts(async () => (await settings()).ModelSettings);

const ChannelSettings = withSettingTexts(async () => (await settings()).ChannelSettings);

const OneChannel = withSettingTexts(async () => (await settings()).OneChannel);

const AllSettings = withSettingTexts(async () => (await settings()).AllSettings);

const OneSection = withSettingTexts(async () => (await settings()).OneSection);

const Changes = withSettingTexts(async () => (await settings()).Changes);

const Hardware = late(async () => (await import("../views/hardware.tsx")).Hardware);

const ChildAgents = late(async () => (await import("../views/agents.tsx")).ChildAgents);

const Robot = late(async () => (await import("../views/robot.tsx")).Robot);

const watch = () => import("../views/watch/index.ts");

const Usage = late(async () => (await watch()).Usage);

const Logs = late(async () => (await watch()).Logs);

const Doctor = late(async () => (await watch()).Doctor);

const Features = withSettingTexts(async () => (await import("../views/features.tsx")).Features);

const Config = withSettingTexts(async () => (await import("../views/config.tsx")).Config);

const writing = () => import("../views/procedures/writing.ts");

const NewProcedure = late(async () => (await writing()).NewProcedure);

const SopChanges = late(async () => (await writing()).SopChanges);

const ChangesOfSop = late(async () => (await writing()).ChangesOfSop);

const ProcedureEditor = late(async () => (await writing()).ProcedureEditor);

export const AREAS: readonly Area[] = [
  {
    id: "chats",
    label: "shell.chats",
    icon: "chat",
    views: [
      { view: "", label: "shell.chats", List: Home },
      { view: "chat", List: NewChat, forOperators: true },
      { view: "sessions", List: Home, Detail: Conversation },
    ],
  },
  {
    id: "approvals",
    label: "common.approvals",
    icon: "bell",
    views: [{ view: "approvals", label: "common.approvals", List: Approvals, forOperators: true }],
  },
  {
    id: "procedures",
    label: "common.procedures",
    icon: "flow",
    views: [
      { view: "procedures", label: "common.procedures", List: Procedures, Detail: Procedure },
      { view: "calendar", label: "shell.calendar", List: Calendar },
      {
        view: "procedure-changes",
        label: "common.saved-changes",
        List: SopChanges,
        Detail: ChangesOfSop,
        forOperators: true,
      },
      { view: "new-procedure", List: NewProcedure, forOperators: true },
      { view: "edit-procedure", Detail: ProcedureEditor, forOperators: true },
      { view: "runs", Detail: Run, forOperators: true },
    ],
  },
  {
    id: "activity",
    label: "shell.activity",
    icon: "pulse",
    views: [
      { view: "overview", label: "shell.overview", List: Overview },
      { view: "inbox", label: "shell.inbox", List: Inbox, Detail: OneMessage, forOperators: true },
      { view: "usage", label: "shell.usage", List: Usage, forOperators: true },
      { view: "events", label: "shell.live-events", List: Events },
      { view: "logs", label: "shell.logs", List: Logs, forOperators: true },
      { view: "doctor", label: "shell.checks", List: Doctor, forOperators: true },
      { view: "audit", label: "shell.audit-log", List: Audit, forOperators: true },
      { view: "hardware", label: "shell.hardware", List: Hardware, forOperators: true, feature: "hardware-gpio" },
      { view: "agents", label: "shell.child-agents", List: ChildAgents, forOperators: true, feature: "agents" },
      { view: "robot", label: "shell.robot", List: Robot, forOperators: true, feature: "safety" },
    ],
  },
  {
    id: "settings",
    label: "common.settings",
    icon: "gear",
    views: [
      { view: "setup", label: "common.set-up", List: Setup, forOperators: true },
      { view: "model", label: "common.model", List: ModelSettings, forOperators: true },
      { view: "channels", label: "common.channels", List: ChannelSettings, Detail: OneChannel, forOperators: true },
      { view: "settings", label: "common.all-settings", List: AllSettings, Detail: OneSection, forOperators: true },
      { view: "changes", label: "common.saved-changes", List: Changes, forOperators: true },
      { view: "devices", label: "common.devices", List: Devices, forOperators: true },
      { view: "passkeys", label: "shell.passkeys", List: Passkeys, feature: PASSKEYS },
      { view: "config", label: "shell.config", List: Config, forOperators: true },
      { view: "features", label: "common.features", List: Features },
      { view: "appearance", label: "appearance.appearance", List: Appearance },
      { view: "shortcuts", label: "shell.shortcuts", List: Shortcuts },
    ],
  },
];

export const areaOf = (view: string): Area | undefined =>
  AREAS.find(({ views }) => views.some((one) => one.view === view));

export const viewOf = (view: string): View | undefined =>
  AREAS.flatMap(({ views }) => views).find((one) => one.view === view);

/** The views of an area that this device is offered. */
export const offeredViews = (area: Area, mayOperate: boolean, features: ReadonlySet<string>): readonly View[] =>
  area.views.filter(
    ({ label, forOperators = false, feature }) =>
      label !== undefined && (mayOperate || !forOperators) && (feature === undefined || features.has(feature)),
  );

/** A view whose code is loaded when it is first opened. */
function late<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return function Late(props: Props) {
    const [View, setView] = useState<ComponentType<Props>>();
    const [tries, setTries] = useState(0);
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      let isWanted = true;
      setFailed(false);
      load().then(
        (view) => isWanted && setView(() => view),
        () => isWanted && setFailed(true),
      );
      return () => {
        isWanted = false;
      };
    }, [tries]);
    if (View !== undefined) return h(View, props);
    if (!hasFailed) return <p class="reading">{t("common.loading")}</p>;
    return (
      <div class="problem" role="alert">
        <p>{t("parts.this-view-could-not-be")}</p>
        <Button onPress={() => setTries(tries + 1)}>{t("common.try-again")}</Button>
      </div>
    );
  };
}

/** A view whose forms call the config's keys by their names. */
function withSettingTexts<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return late(async () => {
    const [view] = await Promise.all([load(), loadSettingTexts()]);
    return view;
  });
}
