/** The frame around every view. */
import { useEffect, useState } from "preact/hooks";
import { Announcements } from "../parts/announcements.tsx";
import { useServices } from "../services.ts";
import { useMayOperate } from "../session/use-device.ts";
import { useCell } from "../state/cell.ts";
import { usePhone } from "../state/use-media.ts";
import { Chats } from "../views/chats/chats.tsx";
import { Connection } from "./connection.tsx";
import { followKeys } from "./keys.ts";
import { Rail, ViewsOfPlace } from "./navigation.tsx";
import { Palette } from "./palette.tsx";
import { placeOf } from "./places.tsx";
import { View } from "./view.tsx";
import { t } from "../texts/texts.ts";

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
          if (mayOperate) void notifier.approvalWanted(`${String(payload["run_id"])} ${String(payload["step_id"])}`);
        },
      }),
    [live, announcer, mayOperate],
  );
  useEffect(
    () => followKeys(window, { openPalette: () => setPaletteOpen(true), areSingle: () => singleKeys.value }),
    [singleKeys],
  );
  const skip = (event: Event): void => {
    // The address is the route: it stays.
    event.preventDefault();
    document.getElementById("main")?.focus();
  };
  const place = placeOf(at.view)?.id ?? "none";
  return (
    <div class={`shell at-${place}`}>
      <a class="skip" href="#main" onClick={skip}>
        {t("shell.skip-to-the-content")}
      </a>
      <Rail at={at.view} />
      <Connection />
      {place === "chats" && !isPhone && (
        <aside class="side" aria-label={t("common.conversations")}>
          <Chats current={at.view === "sessions" ? at.id : undefined} />
        </aside>
      )}
      <ViewsOfPlace at={at.view} />
      <main id="main" tabIndex={-1}>
        <View key={`${at.view} ${at.id ?? ""}`} route={at} />
      </main>
      <Announcements />
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
    </div>
  );
}
