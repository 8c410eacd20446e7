import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";

export function Announcements() {
  const text = useCell(useServices().announcer.said);
  return (
    <div class="announcements" role="status" aria-live="polite">
      {text === "" ? null : (
        <p>
          <bdi>{text}</bdi>
        </p>
      )}
    </div>
  );
}
