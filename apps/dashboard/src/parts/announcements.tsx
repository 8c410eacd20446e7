import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";

export function Announcements() {
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
