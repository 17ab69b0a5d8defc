"""Writes a folder's results.json, table.md and report.html."""
import json
import pathlib

from lab import markdown, page, predict, results


def show(found):
    return markdown.document(found)


def write(folder, found):
    """The three files; a prediction that lies in the folder of the results becomes a section of the page."""
    folder = pathlib.Path(folder)
    results.save_merged(folder, found)
    (folder / "table.md").write_text(markdown.document(found))
    forecast = found.folder / "prediction.json"
    section = ""
    if forecast.exists():
        prediction = json.loads(forecast.read_text())
        section = predict.section(prediction, found)
        if folder != found.folder:
            results.write_json(folder / "prediction.json", prediction)
    (folder / "report.html").write_text(page.document(found, section))
