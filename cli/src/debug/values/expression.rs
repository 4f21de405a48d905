//! What the user writes for a variable or a part of one: `values[gl_LocalInvocationIndex].x`.

use super::super::types::Type;
use super::{Eyes, Home, Item};

/// A variable or a part of one. `R` is its root: a name; or what that names, looked up.
#[derive(Clone, Debug)]
pub struct Path<R = String> {
    /// As the user wrote it.
    pub text: String,
    pub(super) root: R,
    pub(super) steps: Vec<Step<R>>,
}

/// What follows the name of a variable.
#[derive(Clone, Debug)]
pub(super) enum Step<R> {
    Member(String),
    /// One of an array, coordinates of an image.
    Index(Vec<Index<R>>),
}

#[derive(Clone, Debug)]
pub(super) enum Index<R> {
    Number(u64),
    Of(Path<R>),
}

/// The bytes of the name that a text begins with.
fn name(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// The place of the next character that is in no brackets and `ends` something.
fn outside(text: &str, mut depth: i32, ends: impl Fn(char, i32) -> bool) -> Option<usize> {
    text.find(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        ends(c, depth)
    })
}

/// What stands in brackets: numbers and variables, commas between them.
fn indices(text: &str) -> Result<Vec<Index<String>>, String> {
    let end = outside(text, 0, |c, depth| c == ',' && depth == 0);
    let (first, rest) = end.map_or((text, None), |end| (&text[..end], Some(&text[end + 1..])));
    let index = match first.trim().parse::<u64>() {
        Ok(number) => Index::Number(number),
        Err(_) => Index::Of(Path::parse(first)?),
    };
    let rest = rest.map_or(Ok(Vec::new()), indices)?;
    Ok([vec![index], rest].concat())
}

impl Path {
    /// Reads one that a text begins with; and what follows it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn begin(text: &str) -> Result<(Path, &str), String> {
        let (root, mut rest) = text.split_at(name(text));
        let mut steps = Vec::new();
        loop {
            if let Some(inner) = rest.strip_prefix('[') {
                let end = outside(inner, 1, |_, depth| depth == 0);
                let end = end.ok_or_else(|| format!("\"{rest}\" has no closing bracket"))?;
                steps.push(Step::Index(indices(&inner[..end])?));
                rest = &inner[end + 1..];
            } else if let Some(member) = rest.strip_prefix('.').filter(|member| name(member) > 0) {
                let (member, after) = member.split_at(name(member));
                steps.push(Step::Member(member.to_owned()));
                rest = after;
            } else {
                let text = text[..text.len() - rest.len()].to_owned();
                return Ok((Path { text, root: root.to_owned(), steps }, rest));
            }
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Path, String> {
        match Path::begin(text.trim())? {
            (path, "") => Ok(path),
            (_, rest) => Err(format!("\"{rest}\" is neither .MEMBER nor [INDEX]")),
        }
    }
}

impl<R> Path<R> {
    /// Whether it names the same part for every invocation.
    pub(super) fn is_constant(&self) -> bool {
        let constant = |index: &Index<R>| matches!(index, Index::Number(_));
        self.steps.iter().all(|step| match step {
            Step::Member(_) => true,
            Step::Index(indices) => indices.iter().all(constant),
        })
    }
}

impl Eyes<'_, '_, '_, '_, '_> {
    fn root(&self, name: &str) -> Option<Item> {
        // What its callers have is not in scope: the name may be another variable there.
        let mut places: Vec<Item> = self.locals();
        places.extend(self.shared());
        let buffers = self.buffers();
        places.extend(buffers.iter().cloned());
        for block in &buffers {
            places.extend(self.parts(block, 0, 0));
        }
        places.extend(self.images());
        places.extend(self.built_ins());
        let plain = |item: &Item| item.name.split('[').next() == Some(name);
        places.iter().find(|item| item.name == name).or_else(|| places.iter().find(|i| plain(i))).cloned()
    }

    /// Looks up the names of a path, for all invocations that stand at the same instruction.
    ///
    /// # Errors
    /// The name that there is not.
    pub fn look_up(&self, path: &Path) -> Result<Path<Item>, String> {
        let root = self.root(&path.root);
        let root = root.ok_or_else(|| format!("there is no variable \"{}\" here", path.root))?;
        let index = |index: &Index<String>| {
            Ok(match index {
                Index::Number(number) => Index::Number(*number),
                Index::Of(path) => Index::Of(self.look_up(path)?),
            })
        };
        let step = |step: &Step<String>| {
            Ok(match step {
                Step::Member(member) => Step::Member(member.clone()),
                Step::Index(indices) => {
                    Step::Index(indices.iter().map(index).collect::<Result<_, String>>()?)
                }
            })
        };
        let steps = path.steps.iter().map(step).collect::<Result<_, String>>()?;
        Ok(Path { text: path.text.clone(), root, steps })
    }

    /// What an expression such as `values[gl_LocalInvocationIndex].x` names.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn find(&mut self, text: &str) -> Result<Item, String> {
        let path = Path::parse(text)?;
        let path = self.look_up(&path)?;
        self.follow(&path)
    }

    /// What a path leads to for the invocation.
    ///
    /// # Errors
    /// There is no such part.
    pub fn follow(&mut self, path: &Path<Item>) -> Result<Item, String> {
        let mut item = path.root.clone();
        for step in &path.steps {
            let (wanted, index) = match step {
                Step::Index(indices) => {
                    if let Home::Image(texels) = &item.home {
                        let texels = texels.clone();
                        let texel = Self::texel(&texels, &self.numbers(indices)?)?;
                        item = Item { name: format!("{}{}", item.name, texel.name), ..texel };
                        continue;
                    }
                    let [index] = &indices[..] else {
                        return Err(format!("{} has one index, not {}", item.name, indices.len()));
                    };
                    let number = self.number(index)?;
                    (format!("[{number}]"), Some(number as usize))
                }
                Step::Member(member) => (member.clone(), None),
            };
            let (first, most) = index.map_or((0, usize::MAX), |k| (k, 1));
            let array = matches!(self.target.types.get(item.ty), Type::Array(_));
            let parts = if array { self.parts(&item, first, most) } else { self.parts(&item, 0, usize::MAX) };
            let found = parts
                .into_iter()
                .enumerate()
                .find(|(k, part)| part.name == wanted || (!array && index == Some(*k)));
            let (_, part) = found.ok_or_else(|| format!("{} has no part {wanted}", item.name))?;
            let dot = if index.is_some() { "" } else { "." };
            item = Item { name: format!("{}{dot}{wanted}", item.name), ..part };
        }
        Ok(item)
    }

    fn number(&mut self, index: &Index<Item>) -> Result<u64, String> {
        let path = match index {
            Index::Number(number) => return Ok(*number),
            Index::Of(path) => path,
        };
        let item = self.follow(path)?;
        self.scalar(&item).map(|(bits, _)| bits).ok_or_else(|| format!("\"{}\" is no integer", path.text))
    }

    /// Of a vector all components.
    fn numbers(&mut self, indices: &[Index<Item>]) -> Result<Vec<u64>, String> {
        let mut numbers = Vec::new();
        for index in indices {
            match (self.number(index), index) {
                (Ok(number), _) => numbers.push(number),
                (Err(error), Index::Number(_)) => return Err(error),
                (Err(error), Index::Of(path)) => {
                    let item = self.follow(path)?;
                    let parts = self.parts(&item, 0, 4);
                    let bits: Option<Vec<u64>> =
                        parts.iter().map(|part| self.scalar(part).map(|(bits, _)| bits)).collect();
                    numbers.extend(bits.filter(|bits| !bits.is_empty()).ok_or(error)?);
                }
            }
        }
        Ok(numbers)
    }
}
