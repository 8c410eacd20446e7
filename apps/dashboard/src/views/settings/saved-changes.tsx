/** Saved changes of the config. */
import type { SettingsPreview, SettingsVersionDiff, SettingsVersions } from "@svc/api";
import { SavedChanges, type SavedChangesSource } from "../../components/saved-changes.tsx";
import { Name } from "../../components/text.tsx";
import { hrefOf } from "../../state/route.ts";
import { useList } from "../../state/use-reader.ts";
import { t } from "../../texts/texts.ts";
import { Problems } from "./save-bar.tsx";

const PATH = "/api/settings/versions";

const SOURCE: SavedChangesSource = {
  path: PATH,
  async readChange(api, version, signal) {
    const { diff } = await api.get<SettingsVersionDiff>(`${PATH}/${version}`, undefined, signal);
    return [{ lines: diff }];
  },
  async readUndo(api, version, signal) {
    const body = { undo: version };
    const { revision, diff, problems } = await api.call<SettingsPreview>("/api/settings/preview", {
      method: "POST",
      body,
      signal,
    });
    return { revision, files: [{ lines: diff }], problems: <Problems problems={problems} /> };
  },
};

export function Changes() {
  const versions = useList<SettingsVersions>(PATH, []);
  return (
    <SavedChanges
      source={SOURCE}
      versions={versions}
      back={
        <a class="heading-back" href={hrefOf("settings")}>
          {t("common.all-settings")}
        </a>
      }
      hint={t("settings.changes-that-you-save-in")}
      question={t("settings.put-the-file-back-as")}
      summary={({ keys }) => <Name>{keys.join(", ")}</Name>}
      onUndone={() => void versions.refresh()}
    />
  );
}
