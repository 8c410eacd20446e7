/** Files that are dragged over the page: it says where they may be dropped, and takes them there. */
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../../texts/texts.ts";

/** `onFiles`: undefined where none are taken; then a file that is dropped does not take the page's place all the same. */
export function DropZone({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    let depth = 0;
    const show = (next: number): void => {
      depth = Math.max(0, next);
      setOver(depth > 0);
    };
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
    };
    const enter = (event: DragEvent): void => {
      if (hasFiles(event)) show(depth + 1);
    };
    const leave = (event: DragEvent): void => {
      if (hasFiles(event)) show(depth - 1);
    };
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      show(0);
      take.current(filesIn(event.dataTransfer));
    };
    const stop = new AbortController();
    const { signal } = stop;
    document.addEventListener("dragover", over, { signal });
    document.addEventListener("dragenter", enter, { signal });
    document.addEventListener("dragleave", leave, { signal });
    document.addEventListener("drop", drop, { signal });
    return () => stop.abort();
  }, []);
  return isOver ? (
    <div class="drop-zone">
      <p>{t("sessions.drop-files-to-attach-them")}</p>
    </div>
  ) : null;
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes("Files") ?? false;

/** A folder is none, and can't be read as one. */
export const filesIn = (data: DataTransfer | null): readonly File[] =>
  [...(data?.items ?? [])].flatMap((item) => {
    if (item.kind !== "file" || item.webkitGetAsEntry()?.isDirectory === true) return [];
    return item.getAsFile() ?? [];
  });
