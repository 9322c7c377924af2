//! Finds what a command line runs, after the runners that fetch, isolate or interpret it. Owns no name.

/// The word of a command line that names what is run.
pub(super) fn target<'w>(words: &[&'w str]) -> &'w str {
    let Some((program, rest)) = words.split_first() else {
        return "";
    };
    let stem = program.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".exe").trim_end_matches(".cmd");
    let second = rest.first().copied().unwrap_or_default();
    let found = match (stem, second) {
        ("npx" | "bunx" | "pnpx", _) => run_by(&PACKAGES, rest),
        ("npm" | "pnpm" | "yarn", "exec" | "x" | "dlx") | ("bun", "x") => run_by(&PACKAGES, &rest[1..]),
        ("bun" | "deno", "run") => run_by(&NODE, &rest[1..]),
        ("uvx", _) => run_by(&UV, rest),
        ("uv" | "pipx" | "poetry" | "hatch", "run") => match run_by(&UV, &rest[1..]) {
            // `uv run python -m x`: one runner inside another.
            Some(inner) => rest.iter().position(|word| *word == inner).map(|at| target(&rest[at..])),
            None => None,
        },
        ("uv", "tool") if rest.get(1) == Some(&"run") => run_by(&UV, &rest[2..]),
        ("docker" | "podman" | "nerdctl", "run") => run_by(&DOCKER, &rest[1..]),
        ("docker" | "podman", "container") if rest.get(1) == Some(&"run") => run_by(&DOCKER, &rest[2..]),
        ("java", _) => run_by(&JAVA, rest),
        ("node" | "nodejs" | "bun" | "tsx" | "ts-node" | "ruby" | "php" | "perl", _) => run_by(&NODE, rest),
        ("sh" | "bash" | "zsh", _) => rest.iter().copied().find(|word| !word.starts_with('-') && !word.contains(' ')),
        ("env", _) => {
            rest.iter().position(|word| !word.starts_with('-') && !word.contains('=')).map(|at| target(&rest[at..]))
        }
        _ if is_python(stem) => run_by(&PYTHON, rest),
        _ => None,
    };
    found.unwrap_or(program)
}

/// Which words are a runner's own options, before the one that names what it runs. Lists of options are separated by spaces.
struct Runner {
    /// Options without a value; `others` says what the rest does.
    alone: &'static str,
    /// Options that take the next word.
    valued: &'static str,
    others: Others,
    /// Options whose value is what is run.
    target: &'static str,
}

/// What an option means that is in neither list.
enum Others {
    Alone,
    TakeAValue,
}

const PACKAGES: Runner = Runner {
    alone: "",
    valued: "-p --package -c --call -w --workspace --registry --cache --prefix --userconfig",
    others: Others::Alone,
    target: "",
};
const UV: Runner = Runner {
    alone: "",
    valued: "--from --with --with-editable --with-requirements -p --python -i --index --index-url --default-index \
        --extra-index-url -f --find-links --directory --project --cache-dir --config-file --env-file -C \
        --config-setting -P --upgrade-package --refresh-package --extra --group --spec --pip-args --suffix",
    others: Others::Alone,
    target: "-m --module",
};
const PYTHON: Runner = Runner { alone: "", valued: "-W -X", others: Others::Alone, target: "-m" };
const NODE: Runner = Runner {
    alone: "",
    valued: "-r --require --import --loader --experimental-loader -C --conditions --env-file",
    others: Others::Alone,
    target: "",
};
const JAVA: Runner =
    Runner { alone: "", valued: "-cp -classpath --class-path -p", others: Others::Alone, target: "-jar" };
const DOCKER: Runner = Runner {
    alone: "-i -t -d -q -P --interactive --tty --detach --quiet --publish-all --rm --init --privileged \
        --read-only --no-healthcheck --oom-kill-disable --sig-proxy --disable-content-trust",
    valued: "",
    others: Others::TakeAValue,
    target: "",
};

pub(super) fn is_python(stem: &str) -> bool {
    stem.strip_prefix("python")
        .or_else(|| stem.strip_prefix("pypy"))
        .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// The first word after a runner's options.
fn run_by<'w>(runner: &Runner, words: &[&'w str]) -> Option<&'w str> {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" || lists(runner.target, word) {
            return words.next();
        }
        if !word.starts_with('-') || word == "-" {
            return Some(word);
        }
        let takes_next = !word.contains('=')
            && match runner.others {
                Others::Alone => lists(runner.valued, word),
                Others::TakeAValue => !stands_alone(runner, word),
            };
        if takes_next {
            words.next();
        }
    }
    None
}

/// Whether an option takes no value; `-it` is `-i` and `-t`.
fn stands_alone(runner: &Runner, word: &str) -> bool {
    if word.starts_with("--") {
        return lists(runner.alone, word);
    }
    word.chars().skip(1).all(|letter| lists(runner.alone, &format!("-{letter}")))
}

fn lists(list: &str, option: &str) -> bool {
    list.split_whitespace().any(|listed| listed == option)
}
