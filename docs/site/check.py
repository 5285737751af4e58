# SPDX-License-Identifier: Apache-2.0
"""check.py HTML [FOLDER]: opens every page of the site in Chromium as a file, 390 and 1,280 pixels wide. No page may have an error on
its console, load anything from the network, scroll sideways, or have a link to a page or heading that does not exist. FOLDER gets a
picture of some pages."""

import pathlib
import shutil
import sys
import urllib.parse

from playwright.sync_api import sync_playwright

SHOWN = ("index", "docs/tutorials/arrays", "docs/notebooks/scattering", "docs/reference/ops/linalg/lu", "docs/reference/c/array", "docs/gallery",
         "docs/python/arrays", "docs/figures", "docs/errors", "docs/reference/python/collet-a")


def problems(browser, root, width, folder, ids, links):
    page = browser.new_page(viewport={"width": width, "height": 844})
    found = []
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else found.append(f"loads {request.url}"))
    page.on("requestfailed", lambda request: found.append(f"lacks {request.url}"))
    for path in sorted(root.rglob("*.html")):
        found.clear()
        page.goto(path.as_uri())
        beyond = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if beyond > 0:
            found.append(f"{beyond} pixels wider than the screen")
        ids[path] = set(page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)"))
        links[path] = page.evaluate("[...document.querySelectorAll('a[href]')].map(a => a.href)")
        name = str(path.relative_to(root).with_suffix(""))
        if folder and name in SHOWN:
            page.screenshot(path=folder / f"{name.replace('/', '-')}-{width}.png")
        yield from (f"{name} at {width}: {problem}" for problem in found)
    page.close()


def broken(ids, links):
    for path, targets in links.items():
        for url in map(urllib.parse.urlparse, targets):
            to = pathlib.Path(urllib.parse.unquote(url.path))
            if url.scheme == "file" and (not to.exists() or url.fragment and to in ids and urllib.parse.unquote(url.fragment) not in ids[to]):
                yield f"{path}: the link to {url.path}#{url.fragment} is broken"


def main(html, folder=None):
    root, folder = pathlib.Path(html).resolve(), folder and pathlib.Path(folder)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("check.py: no Chromium (Debian: chromium)")
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    ids, links, said = {}, {}, []
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in (390, 1280):
            said += problems(browser, root, width, folder, ids, links)
        browser.close()
    said += broken(ids, links)
    said += (f"{name} is not a page: SHOWN in check.py names it" for name in SHOWN
             if not (root / f"{name}.html").exists())
    print("\n".join([*said, f"{len(ids)} pages, {sum(map(len, links.values()))} links, {len(said)} problems"]))
    return 1 if said or len(ids) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
