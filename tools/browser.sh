# The simulator as a page for browsers: one file, with the WebAssembly module in it, and its tests in Chromium. Sourced,
# not run.

BROWSER_TESTS=target/tools/browser

# Makes the page $2 with a module of cargo's profile $1.
make_browser_page() {
    local program
    setup_simulator
    if have rustup; then rustup --quiet target add wasm32-unknown-unknown >&2; fi
    cargo build --locked --quiet --target wasm32-unknown-unknown --profile "$1" --package heddle-browser
    program=$(program_for_tests heddle-browser-page)
    "$program" "target/wasm32-unknown-unknown/$1/heddle_browser.wasm" "$2"
}

# The profile of the demo: a module of the release's takes much longer to compile, and was not measured to be faster.
browser() {
    make_browser_page demo out/browser/heddle.html
    say "wrote out/browser/heddle.html: open it in a browser, or put it on any static site"
}

# README's picture: the page as it opens, in Chromium.
screenshot() {
    setup_browser_tests
    browser
    "$BROWSER_TESTS/bin/python" crates/browser/page/tests/screenshot.py out/browser/heddle.html docs/src/images/browser.webp
    say "wrote docs/src/images/browser.webp"
}

setup_browser_tests() {
    install_missing python3=python3
    # Where the distribution has no Chromium, Chrome with its driver does as well.
    { have google-chrome && have chromedriver; } || install_missing chromium=chromium chromedriver=chromium-driver
    # Names of packages hold no spaces.
    # shellcheck disable=SC2046
    python_environment "$BROWSER_TESTS" $(cat crates/browser/page/tests/requirements.txt)
}

# The page in Chromium without a window, against the command line of the same sources.
test_browser() {
    setup_browser_tests
    make_browser_page demo target/browser/heddle.html
    local root=$PWD heddle
    heddle=$(program_for_tests heddle)
    HEDDLE=$heddle HEDDLE_PAGE=$root/target/browser/heddle.html HEDDLE_SCREENSHOTS=$root/target/browser \
        "$BROWSER_TESTS/bin/python" -m pytest --rootdir crates/browser/page -p no:cacheprovider -q -rs --junitxml "$JUNIT/browser.xml" "$@" crates/browser/page/tests
}
