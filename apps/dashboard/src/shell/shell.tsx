/** What is around every view. */
import { useEffect } from "preact/hooks";
import { Announcements } from "../parts/announcements.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";
import { Connection } from "./connection.tsx";
import { Navigation } from "./navigation.tsx";
import { View } from "./view.tsx";

export function Shell() {
  const { route, live, announcer } = useServices();
  const at = useCell(route);
  useEffect(
    () =>
      live.listen({
        event({ type, payload }) {
          if (type === "human_approval_request") announcer.say(`Somebody asks for a yes: ${String(payload["title"])}`);
        },
      }),
    [live, announcer],
  );
  const skip = (event: Event): void => {
    // The address is the route: it stays.
    event.preventDefault();
    document.getElementById("main")?.focus();
  };
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Navigation at={at.view} />
      <Connection />
      <main id="main" tabIndex={-1}>
        <View key={`${at.view} ${at.id ?? ""}`} route={at} />
      </main>
      <Announcements />
    </div>
  );
}
