/** The frame around every view. */
import { useEffect, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Heading } from "../components/layout.tsx";
import { useMayOperate, useServices } from "../services.ts";
import { useCell } from "../cell.ts";
import { type Route, hrefOf } from "../state/route.ts";
import { usePhone } from "../state/use-window.ts";
import { t } from "../texts/texts.ts";
import { Chats } from "../views/chats/chats.tsx";
import { Rail, ViewsOfArea } from "./navigation.tsx";
import { Palette } from "./palette.tsx";
import { followKeys } from "./shortcuts.tsx";
import { areaOf, viewOf } from "./views.tsx";

export function Shell() {
  const { route, live, announcer, notifier, singleKeys } = useServices();
  const mayOperate = useMayOperate();
  const at = useCell(route);
  const isPhone = usePhone();
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  useEffect(
    () =>
      live.listen({
        event({ type, payload }) {
          if (type !== "human_approval_request") return;
          announcer.say(t("shell.approval-requested", { title: String(payload["title"]) }), String(payload["run_id"]));
          if (mayOperate) void notifier.approvalRequested(`${String(payload["run_id"])} ${String(payload["step_id"])}`);
        },
      }),
    [live, announcer, mayOperate],
  );
  useEffect(
    () => followKeys(window, { openPalette: () => setPaletteOpen(true), areSingle: () => singleKeys.value }),
    [singleKeys],
  );
  const skip = (event: Event): void => {
    // The hash is the route and must not change.
    event.preventDefault();
    document.getElementById("main")?.focus();
  };
  const area = areaOf(at.view)?.id ?? "none";
  return (
    <div class={`shell at-${area}`}>
      <a class="skip" href="#main" onClick={skip}>
        {t("shell.skip-to-the-content")}
      </a>
      <Rail at={at.view} />
      <Connection />
      {area === "chats" && !isPhone && (
        <aside class="side" aria-label={t("common.conversations")}>
          <Chats current={at.view === "sessions" ? at.id : undefined} />
        </aside>
      )}
      <ViewsOfArea at={at.view} />
      <main id="main" tabIndex={-1}>
        <View key={`${at.view} ${at.id ?? ""}`} route={at} />
      </main>
      <Announcements />
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
    </div>
  );
}

function Announcements() {
  const { announcer, route, turns } = useServices();
  const said = useCell(announcer.said);
  const { view, id } = useCell(route);
  useCell(turns.changes);
  const isInSight = (run: string): boolean =>
    view === "approvals" || (view === "sessions" && turns.of(id ?? "").some((turn) => turn.id === run));
  return (
    <div class="announcements" role="status" aria-live="polite">
      {said === undefined ? null : (
        <p class={said.run !== undefined && isInSight(said.run) ? "unseen" : undefined}>
          <bdi>{said.text}</bdi>
        </p>
      )}
    </div>
  );
}

/** Warns while the shown data, or the page itself, may be outdated. */
function Connection() {
  const { live, hasNewerPage } = useServices();
  const state = useCell(live.state);
  const isOld = useCell(hasNewerPage);
  return (
    <div class="connection" role="status">
      {state === "reconnecting" && (
        <p>
          {t("shell.connection-lost-connecting-again-this")}{" "}
          <Button onPress={() => live.reconnect()}>{t("shell.connect-now")}</Button>
        </p>
      )}
      {state !== "reconnecting" && isOld && (
        <p>
          {t("shell.the-service-was-upgraded-this")}{" "}
          <Button onPress={() => location.reload()}>{t("shell.reload")}</Button>
        </p>
      )}
    </div>
  );
}

/** The view of the current route. */
function View({ route: { view, id } }: { readonly route: Route }) {
  const mayOperate = useMayOperate();
  const found = viewOf(view);
  if (found?.forOperators === true && !mayOperate) return <OperatorsOnly />;
  if (id !== undefined && found?.Detail) return <found.Detail id={id} />;
  if (id === undefined && found?.List) return <found.List />;
  return (
    <>
      <Heading title={t("shell.nothing-is-here")} />
      <p>
        <a href={hrefOf("")}>{t("common.all-conversations")}</a>
      </p>
    </>
  );
}

const OperatorsOnly = () => (
  <>
    <Heading title={t("shell.not-for-this-device")} />
    <p>{t("shell.this-device-may-read-only")}</p>
  </>
);
