/** The objects that all components share, created once and provided by a context. */
import type { PageDevice } from "@svc/api";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Api } from "./client/api.ts";
import { EventLog, Live, watchForNewerPage } from "./client/live.ts";
import { Session } from "./client/session.ts";
import { Notifier } from "./notify/notifier.ts";
import { Announcer, PageTitle } from "./notify/page-signals.ts";
import { PagePush } from "./notify/push.ts";
import { Cell, useCell } from "./cell.ts";
import { type Route, followRoute } from "./state/route.ts";
import { forgetAll, remember, remembered } from "./state/tab-memory.ts";
import { type Theme, applyTheme } from "./state/theme.ts";
import { LiveTurns } from "./views/conversation/live-turns.ts";

export interface Services {
  readonly session: Session;
  readonly api: Api;
  readonly live: Live;
  readonly events: EventLog;
  readonly turns: LiveTurns;
  readonly route: Cell<Route>;
  readonly announcer: Announcer;
  readonly pageTitle: PageTitle;
  readonly notifier: Notifier;
  readonly push: PagePush;
  readonly theme: Cell<Theme>;
  /** Single-letter shortcuts are on. */
  readonly singleKeys: Cell<boolean>;
  /** The daemon serves a newer version of this page. */
  readonly hasNewerPage: Cell<boolean>;
  /** Updated every few seconds, for relative times. */
  readonly nowMs: Cell<number>;
}

const NOW_MS = 10_000;

export function makeServices(window: Window): Services {
  const { location } = window;
  const session = new Session(new BroadcastChannel("svc"), window.isSecureContext);
  const api = new Api(session);
  const live = new Live({
    open: () =>
      new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws`, ["svc.v1", `csrf.${session.csrf() ?? ""}`]),
    check: () => api.get("/api/session"),
  });
  const theme = new Cell<Theme>("system");
  theme.follow(() => applyTheme(window.document.documentElement, theme.value));
  const singleKeys = new Cell(remembered("single-keys") !== "off");
  singleKeys.follow(() => remember("single-keys", singleKeys.value ? undefined : "off"));
  const nowMs = new Cell(Date.now());
  setInterval(() => nowMs.set(Date.now()), NOW_MS);
  const events = new EventLog(live);
  const turns = new LiveTurns(live);
  const hasNewerPage = watchForNewerPage(live, import.meta.url);
  return {
    hasNewerPage,
    session,
    api,
    live,
    events,
    turns,
    route: followRoute(window),
    announcer: new Announcer(),
    pageTitle: new PageTitle(window.document),
    notifier: new Notifier(window as Window & typeof globalThis),
    push: new PagePush(window as Window & typeof globalThis, api),
    theme,
    singleKeys,
    nowMs,
  };
}

/** Receives events while signed in, and reconnects at once when the machine wakes up or finds a network. */
export function followSession({ session, live, events, turns, push }: Services, window: Window): void {
  const apply = (): void => {
    const { value } = session.state;
    if (value.phase === "in") {
      // Best effort: the settings of the device show the error.
      if (value.device.scope === "operator") push.resume().catch(() => undefined);
      return live.start();
    }
    live.stop();
    // The next sign-in may belong to another person.
    events.clear();
    turns.clear();
    forgetAll();
  };
  session.state.follow(apply);
  apply();
  window.addEventListener("online", () => live.reconnect());
  window.document.addEventListener("visibilitychange", () => {
    if (window.document.visibilityState === "visible" && live.state.value === "reconnecting") live.reconnect();
  });
}

const ServicesContext = createContext<Services | undefined>(undefined);
export const ServicesProvider = ServicesContext.Provider;

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === undefined) throw new Error("There is no provider of the services above.");
  return services;
}

/** The device that is signed in. Undefined while the sign-in ends. */
export function useDevice(): PageDevice | undefined {
  const state = useCell(useServices().session.state);
  return state.phase === "in" ? state.device : undefined;
}

/** Whether the device may change things. The daemon decides; this only hides controls that it would refuse. */
export const useMayOperate = (): boolean => useDevice()?.scope === "operator";
